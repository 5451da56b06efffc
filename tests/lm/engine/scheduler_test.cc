#include "lm/engine/scheduler.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "lm/engine/completion.h"
#include "tests/lm/engine/small_engine.h"

namespace agentr {
namespace {

using testing::HasSubstr;

TEST(Scheduler, ResultsDoNotDependOnCacheBatchOrMemory) {
  const std::vector<GenerationRequest> requests = TreeRequests(1, 60);
  // A tiny pool holds two or three of these sequences: running ones are put back all the time.
  for (const int32_t blocks : {25, 40, 4096}) {
    for (const bool cache : {true, false}) {
      for (const int max_batched_tokens : {1, 7, 512}) {
        for (const int max_batch : {1, 5, 64}) {
          SCOPED_TRACE(testing::Message() << blocks << " blocks, cache " << cache << ", batch "
                                          << max_batch << ", round " << max_batched_tokens);
          Model model(SmallShape(blocks), {.max_batch = max_batch,
                                           .max_batched_tokens = max_batched_tokens,
                                           .prefix_cache = cache});
          ExpectAllRight(model, requests);
          ExpectNoLeak(model);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Scheduler, ReadsWideRowsOnSeveralThreads) {
  DecoderShape shape = SmallShape();
  shape.vocab_size = 50000;
  Model model(shape);
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 12; ++i) requests.push_back(Request(Numbers(i, i + 5), 4, 2, 5));
  ExpectAllRight(model, requests);
}

TEST(Scheduler, SeedsAreIndependentOfTheBatch) {
  Model alone;
  const GenerationRequest request = Request(Numbers(0, 20), 25, 3, 99);
  const Generation expected = alone.Run(request);
  Model crowded;
  std::vector<Pending<Generation>> others;
  for (const GenerationRequest& other : TreeRequests(2, 40)) {
    others.push_back(crowded.engine.Generate(other));
  }
  const Generation generation = crowded.Run(request);
  std::set<Tokens> distinct;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(generation.sequences[i].token_ids, expected.sequences[i].token_ids);
    EXPECT_EQ(generation.sequences[i].logprobs, expected.sequences[i].logprobs);
    distinct.insert(generation.sequences[i].token_ids);
  }
  EXPECT_EQ(distinct.size(), 3u);
}

TEST(Scheduler, SamplesShareOnePrefill) {
  for (const bool cache : {true, false}) {
    for (const int32_t length : {40, 41, 42, 43}) {
      Model model(SmallShape(), {.prefix_cache = cache});
      const GenerationRequest request = Request(Numbers(0, length), 10, 8);
      ExpectRight(model.decoder, request, model.Run(request));
      // The prompt once, and of each completion all but its last token.
      EXPECT_EQ(model.decoder.computed(), length + 8 * 9);
      EXPECT_EQ(model.engine.stats().computed_tokens, length + 8 * 9);
    }
  }
}

TEST(Scheduler, SamplesShareOnePrefillWhereAFewRunAtOnce) {
  Model model(SmallShape(), {.max_batch = 2});
  const GenerationRequest request = Request(Numbers(0, 41), 10, 8);
  ExpectRight(model.decoder, request, model.Run(request));
  EXPECT_EQ(model.decoder.computed(), 41 + 8 * 9);
}

TEST(Scheduler, TheNextTurnComputesOnlyNewTokens) {
  Model model;
  Tokens conversation = Numbers(0, 21);
  for (int turn = 0; turn < 5; ++turn) {
    const auto prompt = static_cast<int64_t>(conversation.size());
    const int64_t before = model.decoder.computed();
    const Generation generation = model.Run(Request(conversation, 11));
    if (turn > 0) {
      // The last token of the completion was drawn, but never computed.
      EXPECT_EQ(generation.cached_tokens, prompt - 6 - 1);
      EXPECT_EQ(model.decoder.computed() - before, 1 + 6 + 10);
    }
    const Tokens& ids = generation.sequences[0].token_ids;
    conversation.insert(conversation.end(), ids.begin(), ids.end());
    for (const int32_t token : Numbers(50, 56)) conversation.push_back(token);
  }
}

TEST(Scheduler, ARepeatedPromptComputesOneToken) {
  for (const int32_t length : {1, 8, 9}) {
    Model model;
    const GenerationRequest request = Request(Numbers(0, length), 5);
    const Generation first = model.Run(request);
    const int64_t before = model.decoder.computed();
    GenerationRequest other = request;
    other.params.seed = 2;
    const Generation second = model.Run(other);
    ExpectRight(model.decoder, other, second);
    EXPECT_EQ(second.cached_tokens, length - 1);
    EXPECT_EQ(model.decoder.computed() - before, 5);
  }
}

// Number of different prefixes: what must be computed at least.
int64_t DistinctPrefixes(const std::vector<Tokens>& prompts) {
  std::set<Tokens> prefixes;
  for (const Tokens& prompt : prompts) {
    for (auto end = prompt.begin() + 1; end <= prompt.end(); ++end) {
      prefixes.insert(Tokens(prompt.begin(), end));
      if (end == prompt.end()) break;
    }
  }
  return std::ssize(prefixes);
}

TEST(Scheduler, SiblingsThatArriveTogetherComputeTheirPrefixOnce) {
  for (const int max_batched_tokens : {5, 16, 512}) {
    FakeDecoder decoder(SmallShape());
    Gate gate(decoder);
    const ByteTokenizer tokenizer;
    Engine engine(decoder, tokenizer, {.max_batched_tokens = max_batched_tokens});
    RandomStream random(3);
    const Tokens parent = RandomTokens(random, 101);
    std::vector<Tokens> prompts;
    std::vector<Pending<Generation>> pending;
    for (int child = 0; child < 12; ++child) {
      Tokens prompt = parent;
      prompt.resize(parent.size() - static_cast<size_t>(child % 3));
      for (const int32_t token : RandomTokens(random, 9)) prompt.push_back(token);
      pending.push_back(engine.Generate(Request(prompt, 1)));
      prompts.push_back(std::move(prompt));
    }
    gate.Open();
    for (auto& one : pending) ASSERT_TRUE(one.Wait());
    EXPECT_EQ(decoder.computed(), DistinctPrefixes(prompts));
  }
}

TEST(Scheduler, NoTokenOfATreeIsComputedTwiceWhileItIsCached) {
  Model model;
  std::vector<Tokens> histories;
  std::vector<Pending<Generation>> pending;
  std::vector<GenerationRequest> requests = TreeRequests(4, 100);
  int64_t again = 0;
  for (GenerationRequest& request : requests) pending.push_back(model.engine.Generate(request));
  for (size_t i = 0; i < requests.size(); ++i) {
    const Result<Generation> generation = pending[i].Wait();
    ASSERT_TRUE(generation);
    histories.push_back(requests[i].prompt);
    for (const GeneratedSequence& sequence : generation->sequences) {
      Tokens history = requests[i].prompt;
      history.insert(history.end(), sequence.token_ids.begin(), sequence.token_ids.end() - 1);
      histories.push_back(std::move(history));
    }
    // A prompt that is all cached has its last token computed for its logits.
    again += generation->cached_tokens == generation->prompt_tokens - 1;
  }
  EXPECT_GE(model.decoder.computed(), DistinctPrefixes(histories));
  EXPECT_LE(model.decoder.computed(), DistinctPrefixes(histories) + again);
}

TEST(Scheduler, PutsTheYoungestBackWhereMemoryIsShort) {
  // Each of the 6 grows to 10 blocks of the 24.
  Model model(SmallShape(24));
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(Request(Numbers(i, i + 4), 36, 1, 5));
  ExpectAllRight(model, requests);
  ExpectNoLeak(model);
  EXPECT_GT(model.engine.stats().evicted_blocks, 0);
}

TEST(Scheduler, ThePutBackFinishInTheOrderTheyCame) {
  Model model(SmallShape(24));
  std::vector<Pending<Generation>> pending;
  std::vector<int> last_round(6);  // when each request was last heard of
  int heard = 0;
  for (int i = 0; i < 6; ++i) {
    GenerationRequest request = Request(Numbers(i, i + 4), 36);
    request.on_text = [&, i](int, std::string_view) {
      last_round[static_cast<size_t>(i)] = ++heard;
    };
    pending.push_back(model.engine.Generate(request));
  }
  for (auto& one : pending) ASSERT_TRUE(one.Wait());
  EXPECT_TRUE(std::is_sorted(last_round.begin(), last_round.end()));
}

TEST(Scheduler, WhatHasNoRoomWaitsRatherThanStartsAndIsPutBack) {
  Model model(SmallShape(13));
  Tokens cached = Numbers(0, 21);  // 5 full blocks and a part of one
  model.Run(Request(cached, 1));
  // 5 blocks, at last 10; the other one needs 4 beside the cached ones.
  Pending<Generation> running = model.engine.Generate(Request(Numbers(100, 120), 20));
  for (const int32_t token : Numbers(50, 62)) cached.push_back(token);
  Pending<Generation> waiting = model.engine.Generate(Request(cached, 5));
  ASSERT_TRUE(running.Wait());
  ASSERT_TRUE(waiting.Wait());
  EXPECT_LE(model.decoder.copies(), 1);
}

Pending<Generation> Submit(Scheduler& scheduler, const GenerationRequest& request,
                           const Tokenizer& tokenizer, const DecoderShape& shape) {
  auto job = std::make_unique<GenerationJob>(request, tokenizer, shape);
  Pending<Generation> pending = job->pending();
  scheduler.Add(std::move(job));
  return pending;
}

// Conversations at once, each of which goes on three steps after it is answered. Drives the
// scheduler on this thread, so that every run is the same.
class Conversations {
 public:
  // One for each number of turns.
  Conversations(int32_t blocks, const std::vector<int>& turns) : decoder_(SmallShape(blocks)) {
    RandomStream random(7);
    for (const int left : turns) open_.push_back({RandomTokens(random, 40), {}, left, 0});
  }

  void Play(const EngineOptions& options) {
    Scheduler scheduler(decoder_, options);
    for (Conversation& one : open_) Ask(scheduler, one);
    while (ended_ < std::ssize(open_)) {
      scheduler.Step();
      scheduler.Deliver();
      for (Conversation& one : open_) {
        if (one.pending && one.pending->WaitFor(std::chrono::milliseconds(0))) TakeReply(one);
        if (!one.pending && one.turns_left > 0 && one.thinks_for-- == 0) Ask(scheduler, one);
      }
    }
  }

  int64_t computed() const { return decoder_.computed(); }
  // How many replies there were when the conversation had ended.
  int replies_at_end(size_t conversation) const { return open_[conversation].replies_at_end; }

 private:
  struct Conversation {
    Tokens tokens;
    std::optional<Pending<Generation>> pending;
    int turns_left;
    int replies_at_end;
    int thinks_for = 0;  // further steps
  };

  void Ask(Scheduler& scheduler, Conversation& one) {
    one.pending = Submit(scheduler, Request(one.tokens, 5), tokenizer_, decoder_.shape());
  }

  void TakeReply(Conversation& one) {
    const Result<Generation> reply = one.pending->Wait();
    one.pending.reset();
    const Tokens& ids = reply->sequences[0].token_ids;
    EXPECT_EQ(ids, Expected(decoder_, Request(one.tokens, 5), 0));
    one.tokens.insert(one.tokens.end(), ids.begin(), ids.end());
    for (const int32_t token : Numbers(50, 56)) one.tokens.push_back(token);
    ++replies_;
    one.thinks_for = 3;
    if (--one.turns_left > 0) return;
    one.replies_at_end = replies_;
    ++ended_;
  }

  FakeDecoder decoder_;
  ByteTokenizer tokenizer_;
  std::vector<Conversation> open_;
  int replies_ = 0, ended_ = 0;
};

TEST(Scheduler, ConversationsThatDoNotAllFitComputeTheirTurnsOnce) {
  // Twelve of six turns, each of which grows to 105 tokens, 27 blocks: four fit.
  Conversations conversations(110, std::vector<int>(12, 6));
  conversations.Play({.max_batch = 8});
  constexpr int64_t kOnce = 12 * (40 + 5 * 11 + 4);  // all tokens but the last of each conversation
  EXPECT_GE(conversations.computed(), kOnce);
  EXPECT_LT(conversations.computed(), kOnce * 2);
}

TEST(Scheduler, ANewRequestIsOvertakenByAFewTurnsOnly) {
  Conversations conversations(4096, {20, 20, 1});
  conversations.Play({.max_batch = 1});
  EXPECT_LT(conversations.replies_at_end(2), 20);
  EXPECT_GT(conversations.replies_at_end(2), 3);
}

TEST(Scheduler, ARequestMayGoOnFromOneCompletionWhileAnotherIsComputed) {
  FakeDecoder decoder(SmallShape());
  const ByteTokenizer tokenizer;
  GenerationRequest request = Request(Numbers(0, 20), 40, 2);
  // The fifth token of the first completion ends it, and is not in the second.
  const auto is_good = [&] {
    const Tokens second = Expected(decoder, request, 1);
    return Expected(decoder, request, 0).size() == 5 && second.size() == 40;
  };
  do {
    ++request.params.seed;
    request.stop_tokens.clear();
    request.stop_tokens = {Expected(decoder, request, 0)[4]};
  } while (!is_good());
  Scheduler scheduler(decoder, {});
  Pending<Generation> first = Submit(scheduler, request, tokenizer, decoder.shape());
  for (int i = 0; i < 10; ++i) scheduler.Step();
  GenerationRequest next = Request(request.prompt, 5);
  for (const int32_t token : Expected(decoder, request, 0)) next.prompt.push_back(token);
  Pending<Generation> second = Submit(scheduler, next, tokenizer, decoder.shape());
  while (!scheduler.idle()) {
    scheduler.Step();
    scheduler.Deliver();
  }
  ExpectRight(decoder, request, *first.Wait());
  ExpectRight(decoder, next, *second.Wait());
}

TEST(Scheduler, AFailureOfTheDecoderFailsItsRoundOnly) {
  std::atomic<int> rounds = 0;
  Model model(SmallShape(), {.max_batch = 1});
  model.decoder.before_forward = [&](auto) {
    if (++rounds == 3) throw std::runtime_error("out of memory on the device");
  };
  Pending<Generation> first = model.engine.Generate(Request(Numbers(0, 10), 20));
  const GenerationRequest request = Request(Numbers(0, 10), 20, 2, 8);
  Pending<Generation> second = model.engine.Generate(request);
  const Result<Generation> failed = first.Wait();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kServer);
  EXPECT_THAT(failed.error().message, HasSubstr("out of memory on the device"));
  const Result<Generation> result = second.Wait();
  ASSERT_TRUE(result) << result.error().message;
  ExpectRight(model.decoder, request, *result);
}

TEST(Scheduler, AFailureToCopyFailsTheRequest) {
  Model model;
  model.decoder.before_copy = [] { throw std::runtime_error("no copy"); };
  ASSERT_TRUE(model.engine.Generate(Request(Numbers(0, 10), 5)).Wait());
  const Result<Generation> failed = model.engine.Generate(Request(Numbers(0, 10), 5, 3)).Wait();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("no copy"));
  ASSERT_TRUE(model.engine.Generate(Request(Numbers(100, 110), 5)).Wait());
  EXPECT_EQ(model.engine.stats().running, 0);
}

TEST(Scheduler, PromptsGoAheadBesideRunningSequences) {
  FakeDecoder decoder(SmallShape());
  Gate gate(decoder);
  const ByteTokenizer tokenizer;
  Engine engine(decoder, tokenizer, {.max_batched_tokens = 1});
  std::vector<Pending<Generation>> pending;
  for (int i = 0; i < 10; ++i) {
    pending.push_back(engine.Generate(Request(Numbers(20 * i, 20 * i + 5), 60)));
  }
  gate.Open();
  for (auto& one : pending) ASSERT_TRUE(one.Wait());
  // One prompt token each round, the rest beside: the last one begins in round 50.
  EXPECT_EQ(engine.stats().rounds, 50 + 59);
}

}  // namespace
}  // namespace agentr
