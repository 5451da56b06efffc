#include "lm/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lm/small_engine.h"

namespace agentr {
namespace {

<<<<<<< HEAD
using Tokens = std::vector<int32_t>;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

DecoderShape Shape(int32_t blocks = 4096, int32_t max_context = 512, int32_t block_tokens = 4) {
  return {.vocabulary = 258,
          .max_context = max_context,
          .block_tokens = block_tokens,
          .blocks = blocks,
          .block_bytes = 1};
}

// An engine over a FakeDecoder and a token per byte.
class Model {
 public:
  explicit Model(DecoderShape shape = Shape(), EngineOptions options = {})
      : decoder(shape), engine(decoder, tokenizer, options) {}

  Generation Run(GenerationRequest request) {
    Result<Generation> result = engine.Generate(std::move(request)).Wait();
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }

  FakeDecoder decoder;
  ByteTokenizer tokenizer;
  Engine engine;
};

Tokens RandomTokens(RandomStream& random, uint64_t length) {
  Tokens tokens;
  for (uint64_t i = 0; i < length; ++i) tokens.push_back(static_cast<int32_t>(random.Below(256)));
  return tokens;
}

Tokens Numbers(int32_t begin, int32_t end) {
  Tokens tokens;
  for (int32_t i = begin; i < end; ++i) tokens.push_back(i % 256);
  return tokens;
}

GenerationRequest Request(Tokens prompt, int max_tokens, int n = 1, uint64_t seed = 1) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.n = n;
  request.seed = seed;
  return request;
}

// What the engine must generate, worked out one token at a time without engine, cache or batch.
Tokens Expected(const FakeDecoder& decoder, const GenerationRequest& request, int index) {
  RandomStream random = RandomStream(request.seed).Split(static_cast<uint64_t>(index));
  Tokens tokens = request.prompt;
  Tokens generated;
  Sampler sampler;
  while (std::ssize(generated) < request.max_tokens) {
    const std::vector<float> logits = decoder.Logits(tokens);
    const int32_t token = sampler.Sample(logits, request.knobs, tokens, random, 0).token;
    tokens.push_back(token);
    generated.push_back(token);
    if (std::count(request.stop_tokens.begin(), request.stop_tokens.end(), token) > 0) break;
  }
  return generated;
}

void ExpectRight(const FakeDecoder& decoder, const GenerationRequest& request,
                 const Generation& generation) {
  ASSERT_EQ(std::ssize(generation.sequences), request.n);
  for (int i = 0; i < request.n; ++i) {
    ASSERT_EQ(generation.sequences[static_cast<size_t>(i)].token_ids,
              Expected(decoder, request, i));
  }
}

// Prompts that share beginnings as those of a search tree do: nodes of a random tree.
std::vector<GenerationRequest> TreeRequests(uint64_t seed, size_t count) {
  RandomStream random(seed);
  std::vector<GenerationRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    Tokens prompt;
    if (i > 0 && random.Below(5) > 0) prompt = requests[random.Below(i)].prompt;
    if (prompt.size() > 60) prompt.resize(10);
    for (const int32_t token : RandomTokens(random, 1 + random.Below(12))) prompt.push_back(token);
    GenerationRequest request = Request(std::move(prompt), 1 + static_cast<int>(random.Below(20)),
                                        1 + static_cast<int>(random.Below(3)), random.Next());
    request.stop_tokens = {ByteTokenizer::kEos, 7, 77};
    if (random.Below(3) == 0) request.knobs = {.temperature = 0.3, .top_k = 20, .top_p = 0.9};
    if (random.Below(3) == 0) request.knobs.repetition_penalty = 1.3;
    requests.push_back(std::move(request));
  }
  return requests;
}

void ExpectAllRight(Model& model, const std::vector<GenerationRequest>& requests) {
  std::vector<Pending<Generation>> pending;
  for (const GenerationRequest& request : requests)
    pending.push_back(model.engine.Generate(request));
  for (size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(i);
    const Result<Generation> result = pending[i].Wait();
    ASSERT_TRUE(result) << result.error().message;
    ExpectRight(model.decoder, requests[i], *result);
  }
}

// All blocks are free or evictable: a request that needs the whole pool runs.
void ExpectNoLeak(Model& model) {
  const DecoderShape& shape = model.decoder.shape();
  const int32_t capacity = std::min(shape.max_context, shape.blocks * shape.block_tokens);
  EXPECT_EQ(model.Run(Request(Numbers(3, 3 + capacity - 1), 1)).sequences[0].token_ids.size(), 1u);
  EXPECT_EQ(model.engine.stats().running, 0);
  EXPECT_EQ(model.engine.stats().waiting, 0);
}

TEST(Engine, GeneratesWhatTheLogitsSay) {
  Model model;
  const GenerationRequest request = Request(Numbers(0, 9), 30);
  const Generation generation = model.Run(request);
  ExpectRight(model.decoder, request, generation);
  const GeneratedSequence& sequence = generation.sequences[0];
  EXPECT_EQ(sequence.finish_reason, "length");
  ASSERT_EQ(sequence.logprobs.size(), 30u);
  Tokens tokens = request.prompt;
  for (size_t i = 0; i < 30; ++i) {
    const std::vector<float> row = model.decoder.Logits(tokens);
    const int32_t token = sequence.token_ids[i];
    EXPECT_NEAR(sequence.logprobs[i], row[static_cast<size_t>(token)] - Sampler().LogSum(row),
                1e-6);
    tokens.push_back(token);
  }
  EXPECT_EQ(generation.prompt_tokens, 9);
  EXPECT_EQ(generation.cached_tokens, 0);
}

TEST(Engine, GreedyReportsTheTopAlternativeItTook) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 10);
  request.knobs.temperature = 0;
  request.top_logprobs = 3;
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  ASSERT_EQ(sequence.alternatives.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    ASSERT_EQ(sequence.alternatives[i].size(), 3u);
    EXPECT_EQ(sequence.alternatives[i][0].token, sequence.token_ids[i]);
    EXPECT_EQ(sequence.alternatives[i][0].logprob, sequence.logprobs[i]);
  }
}

TEST(Engine, ResultsDoNotDependOnCacheBatchOrMemory) {
  const std::vector<GenerationRequest> requests = TreeRequests(1, 60);
  // A tiny pool holds two or three of these sequences: running ones are put back all the time.
  for (const int32_t blocks : {25, 40, 4096}) {
    for (const bool cache : {true, false}) {
      for (const int max_round_tokens : {1, 7, 512}) {
        for (const int max_batch : {1, 5, 64}) {
          SCOPED_TRACE(testing::Message() << blocks << " blocks, cache " << cache << ", batch "
                                          << max_batch << ", round " << max_round_tokens);
          Model model(Shape(blocks), {.max_batch = max_batch,
                                      .max_round_tokens = max_round_tokens,
                                      .prefix_cache = cache});
          ExpectAllRight(model, requests);
          ExpectNoLeak(model);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Engine, ReadsWideRowsOnSeveralThreads) {
  DecoderShape shape = Shape();
  shape.vocabulary = 50000;
  Model model(shape);
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 12; ++i) requests.push_back(Request(Numbers(i, i + 5), 4, 2, 5));
  ExpectAllRight(model, requests);
}

TEST(Engine, LogitsThatAreNoNumbersFailTheRequest) {
  class Broken : public FakeDecoder {
   public:
    using FakeDecoder::FakeDecoder;
    std::span<const float> Forward(std::span<const Slice> batch) override {
      const std::span<const float> rows = FakeDecoder::Forward(batch);
      rows_.assign(rows.size(), std::numeric_limits<float>::quiet_NaN());
      return rows_;
    }

   private:
    std::vector<float> rows_;
  };
  Broken decoder(Shape());
  const ByteTokenizer tokenizer;
  Engine engine(decoder, tokenizer, {});
  const Result<Generation> failed = engine.Generate(Request(Numbers(0, 10), 5)).Wait();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kServer);
  EXPECT_THAT(failed.error().message, HasSubstr("not finite numbers"));
}

TEST(Engine, SeedsAreIndependentOfTheBatch) {
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

TEST(Engine, SamplesShareOnePrefill) {
  for (const bool cache : {true, false}) {
    for (const int32_t length : {40, 41, 42, 43}) {
      Model model(Shape(), {.prefix_cache = cache});
      const GenerationRequest request = Request(Numbers(0, length), 10, 8);
      ExpectRight(model.decoder, request, model.Run(request));
      // The prompt once, and of each completion all but its last token.
      EXPECT_EQ(model.decoder.computed(), length + 8 * 9);
      EXPECT_EQ(model.engine.stats().computed_tokens, length + 8 * 9);
    }
  }
}

TEST(Engine, SamplesShareOnePrefillWhereAFewRunAtOnce) {
  Model model(Shape(), {.max_batch = 2});
  const GenerationRequest request = Request(Numbers(0, 41), 10, 8);
  ExpectRight(model.decoder, request, model.Run(request));
  EXPECT_EQ(model.decoder.computed(), 41 + 8 * 9);
}

TEST(Engine, TheNextTurnComputesOnlyNewTokens) {
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

TEST(Engine, ARepeatedPromptComputesOneToken) {
  for (const int32_t length : {1, 8, 9}) {
    Model model;
    const GenerationRequest request = Request(Numbers(0, length), 5);
    const Generation first = model.Run(request);
    const int64_t before = model.decoder.computed();
    GenerationRequest other = request;
    other.seed = 2;
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

// Holds the decoder until `count` requests are handed over, so that they arrive together.
class Gate {
 public:
  explicit Gate(FakeDecoder& decoder) {
    decoder.before_forward = [this](auto) { std::lock_guard lock(closed_); };
    closed_.lock();
  }
  void Open() { closed_.unlock(); }

 private:
  std::mutex closed_;
};

TEST(Engine, SiblingsThatArriveTogetherComputeTheirPrefixOnce) {
  for (const int max_round_tokens : {5, 16, 512}) {
    FakeDecoder decoder(Shape());
    Gate gate(decoder);
    const ByteTokenizer tokenizer;
    Engine engine(decoder, tokenizer, {.max_round_tokens = max_round_tokens});
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

TEST(Engine, NoTokenOfATreeIsComputedTwiceWhileItIsCached) {
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

TEST(Engine, PutsTheYoungestBackWhereMemoryIsShort) {
  // Each of the 6 grows to 10 blocks of the 24.
  Model model(Shape(24));
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(Request(Numbers(i, i + 4), 36, 1, 5));
  ExpectAllRight(model, requests);
  ExpectNoLeak(model);
  EXPECT_GT(model.engine.stats().evicted_blocks, 0);
}

TEST(Engine, ThePutBackFinishInTheOrderTheyCame) {
  Model model(Shape(24));
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

TEST(Engine, WhatHasNoRoomWaitsRatherThanStartsAndIsPutBack) {
  Model model(Shape(13));
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

TEST(Engine, RequestsThatCannotFitSayTheNumbersAndTheCure) {
  Model model(Shape(4096, 64));
  const Result<Generation> context = model.engine.Generate(Request(Numbers(0, 64), 1)).Wait();
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().kind, ErrorKind::kContextLength);
  EXPECT_THAT(context.error().message,
              AllOf(HasSubstr("65"), HasSubstr("64"), HasSubstr("--model_context")));
  Model small(Shape(3));
  const Result<Generation> pool = small.engine.Generate(Request(Numbers(0, 12), 1)).Wait();
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().kind, ErrorKind::kContextLength);
  EXPECT_THAT(pool.error().message,
              AllOf(HasSubstr("13"), HasSubstr("12"), HasSubstr("--cache_gib")));
  const auto score = small.engine.Score({Numbers(0, 6), Numbers(0, 7)}).Wait();
  ASSERT_FALSE(score);
  EXPECT_EQ(score.error().kind, ErrorKind::kContextLength);
}

TEST(Engine, MaxTokensIsCutToTheContext) {
  Model model(Shape(4096, 64));
  const GeneratedSequence sequence = model.Run(Request(Numbers(0, 60), 500)).sequences[0];
  EXPECT_EQ(sequence.token_ids.size(), 4u);
  EXPECT_EQ(sequence.finish_reason, "length");
  Model small(Shape(3));
  EXPECT_EQ(small.Run(Request(Numbers(0, 5), 500, 4)).sequences[3].token_ids.size(), 7u);
}

TEST(Engine, RefusesWhatMakesNoSense) {
  Model model;
  const auto complaint = [&](auto change) {
    GenerationRequest request = Request(Numbers(0, 5), 5);
    change(request);
    const Result<Generation> result = model.engine.Generate(request).Wait();
    if (result) return std::string("no error");
    EXPECT_EQ(result.error().kind, ErrorKind::kRejected);
    return result.error().message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint([](auto& r) { r.prompt.clear(); }), HasSubstr("prompt"));
  EXPECT_THAT(complaint([](auto& r) { r.prompt[1] = 258; }), HasSubstr("258"));
  EXPECT_THAT(complaint([](auto& r) { r.prompt[1] = -1; }), HasSubstr("-1"));
  EXPECT_THAT(complaint([](auto& r) { r.n = 0; }), HasSubstr("n must"));
  EXPECT_THAT(complaint([](auto& r) { r.n = 1 << 30; }), HasSubstr("n must"));
  EXPECT_THAT(complaint([](auto& r) { r.max_tokens = 0; }), HasSubstr("max_tokens"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.temperature = -0.1; }), HasSubstr("temperature"));
  EXPECT_THAT(complaint([&](auto& r) { r.knobs.temperature = nan; }), HasSubstr("temperature"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.top_k = -1; }), HasSubstr("top_k"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.top_p = 0; }), HasSubstr("top_p"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.top_p = 1.1; }), HasSubstr("top_p"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.min_p = 2; }), HasSubstr("min_p"));
  EXPECT_THAT(complaint([](auto& r) { r.knobs.repetition_penalty = 0; }), HasSubstr("penalty"));
  EXPECT_THAT(complaint([](auto& r) { r.top_logprobs = -1; }), HasSubstr("top_logprobs"));
  EXPECT_THAT(complaint([](auto& r) { r.stop = {"a", ""}; }), HasSubstr("stop string"));
  EXPECT_EQ(model.engine.stats().requests, 0);
  EXPECT_THROW(Engine(model.decoder, model.tokenizer, {.max_batch = 0}), FatalError);
}

TEST(Engine, StopTokensEndACompletion) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 400);
  request.stop_tokens = {10, ByteTokenizer::kEos, 30};
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  EXPECT_EQ(sequence.token_ids, Expected(model.decoder, request, 0));
  ASSERT_LT(sequence.token_ids.size(), 400u);
  EXPECT_EQ(sequence.finish_reason, "stop");
  const Tokens before(sequence.token_ids.begin(), sequence.token_ids.end() - 1);
  EXPECT_EQ(sequence.logprobs.size(), sequence.token_ids.size());
  IncrementalDecoder decoder(model.tokenizer);
  std::string text;
  for (const int32_t token : before) text += decoder.Add(token);
  EXPECT_EQ(sequence.text, text + decoder.Finish());
}

TEST(Engine, StopStringsEndACompletionAcrossTokens) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 60);
  request.knobs.temperature = 0;
  const std::string whole = model.Run(request).sequences[0].text;
  request.stop = {"never said", whole.substr(20, 7)};
  std::string streamed;
  request.on_text = [&](int, std::string_view piece) { streamed += piece; };
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  EXPECT_EQ(sequence.text, whole.substr(0, 20));
  EXPECT_EQ(streamed, sequence.text);
  EXPECT_EQ(sequence.finish_reason, "stop");
  EXPECT_LT(sequence.token_ids.size(), 60u);
}

TEST(Engine, StreamsEachCompletionsText) {
  Model model(Shape(60));
  std::map<int, std::string> streamed;
  GenerationRequest request = Request(Numbers(0, 9), 30, 4);
  const auto engine_thread = std::make_shared<std::set<std::thread::id>>();
  request.on_text = [&, engine_thread](int index, std::string_view piece) {
    engine_thread->insert(std::this_thread::get_id());
    streamed[index] += piece;
  };
  const Generation generation = model.Run(request);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(streamed[i], generation.sequences[static_cast<size_t>(i)].text);
    EXPECT_FALSE(streamed[i].empty());
  }
  EXPECT_EQ(engine_thread->size(), 1u);
  EXPECT_EQ(engine_thread->count(std::this_thread::get_id()), 0u);
}

TEST(Engine, ScoresContinuations) {
  for (const int max_round_tokens : {3, 512}) {
    Model model(Shape(), {.max_batch = 4, .max_round_tokens = max_round_tokens});
    model.decoder.before_forward = [](std::span<const Slice> batch) {
      int32_t rows = 0;
      for (const Slice& slice : batch) rows += slice.logits;
      EXPECT_LE(rows, 2 * 4);  // rows take memory: of single tokens, and of pieces, max_batch each
    };
    const Tokens prompt = Numbers(0, 30);
    std::vector<Pending<std::vector<float>>> pending;
    std::vector<Tokens> continuations;
    for (int i = 0; i < 8; ++i) {
      continuations.push_back(Numbers(10 * i, 10 * i + 2 * i));
      pending.push_back(model.engine.Score({prompt, continuations.back()}));
    }
    for (size_t i = 0; i < 8; ++i) {
      const Result<std::vector<float>> scores = pending[i].Wait();
      ASSERT_TRUE(scores);
      ASSERT_EQ(scores->size(), continuations[i].size());
      Tokens tokens = prompt;
      for (size_t j = 0; j < scores->size(); ++j) {
        const std::vector<float> row = model.decoder.Logits(tokens);
        const int32_t token = continuations[i][j];
        EXPECT_NEAR((*scores)[j], row[static_cast<size_t>(token)] - Sampler().LogSum(row), 1e-6);
        tokens.push_back(token);
      }
    }
    // The prompt's first 29 tokens once; its last one and the continuation each time.
    EXPECT_EQ(model.decoder.computed(), 29 + 2 + 4 + 6 + 8 + 10 + 12 + 14);
  }
}

TEST(Engine, AScoreEqualsTheLogProbabilitiesOfTheGeneration) {
  Model model;
  const Generation generation = model.Run(Request(Numbers(0, 10), 20));
  const auto scores =
      model.engine.Score({Numbers(0, 10), generation.sequences[0].token_ids}).Wait();
  ASSERT_TRUE(scores);
  EXPECT_EQ(*scores, generation.sequences[0].logprobs);
}

=======
>>>>>>> lm-engine
TEST(Engine, CancelledRequestsEndSoon) {
  FakeDecoder decoder(Shape());
  Gate gate(decoder);
  const ByteTokenizer tokenizer;
  Engine engine(decoder, tokenizer, {.max_batch = 2});
  Pending<Generation> running = engine.Generate(Request(Numbers(0, 10), 400));
  Pending<Generation> waiting = engine.Generate(Request(Numbers(5, 15), 400, 4));
  Pending<std::vector<float>> score = engine.Score({Numbers(0, 10), Numbers(0, 100)});
  running.Cancel();
  waiting.Cancel();
  score.Cancel();
  gate.Open();
  EXPECT_EQ(running.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(waiting.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(score.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_LT(decoder.computed(), 100);
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
}

TEST(Engine, TheEndCompletesEveryWaiter) {
  FakeDecoder decoder(Shape());
  decoder.before_forward = [](auto) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const ByteTokenizer tokenizer;
  std::vector<Pending<Generation>> pending;
  std::vector<Pending<std::vector<float>>> scores;
  {
    Engine engine(decoder, tokenizer, {.max_batch = 4});
    for (int i = 0; i < 50; ++i) {
      pending.push_back(engine.Generate(Request(Numbers(i, i + 10), 400, 2)));
      scores.push_back(engine.Score({Numbers(i, i + 10), Numbers(0, 300)}));
    }
  }
  int cancelled = 0;
  for (auto& one : pending) cancelled += one.Wait().error().kind == ErrorKind::kCancelled;
  EXPECT_EQ(cancelled, 50);
  for (auto& one : scores) {
    const auto result = one.Wait();
    EXPECT_TRUE(result || result.error().kind == ErrorKind::kCancelled);
  }
}

TEST(Engine, CountsWhatItDoes) {
  Model model(Shape(100));
  model.Run(Request(Numbers(0, 16), 5));
  model.Run(Request(Numbers(0, 18), 5, 2));
  const EngineStats stats = model.engine.stats();
  EXPECT_EQ(stats.requests, 2);
  EXPECT_EQ(stats.prompt_tokens, 34);
  EXPECT_EQ(stats.cached_tokens, 16);
  EXPECT_EQ(stats.completion_tokens, 15);
  EXPECT_EQ(stats.computed_tokens, model.decoder.computed());
  EXPECT_EQ(stats.computed_tokens, 16 + 4 + 2 + 4 + 4);
  EXPECT_EQ(stats.rounds, 10);
  EXPECT_EQ(stats.blocks, 100);
  EXPECT_EQ(stats.blocks_in_use, 4 + 1 + 2 + 2);
}

TEST(Engine, AThousandRequestsWithRandomCancellations) {
  Model model(Shape(60), {.max_batch = 16, .max_round_tokens = 40});
  const std::vector<GenerationRequest> requests = TreeRequests(6, 1000);
  std::atomic<int> right = 0;
  std::atomic<int> cancelled = 0;
  const auto client = [&](size_t begin) {
    RandomStream random(begin);
    std::vector<std::pair<size_t, Pending<Generation>>> pending;
    for (size_t i = begin; i < requests.size(); i += 8) {
      pending.emplace_back(i, model.engine.Generate(requests[i]));
      if (random.Below(3) == 0) pending[random.Below(pending.size())].second.Cancel();
      if (random.Below(20) == 0) std::this_thread::yield();
      EXPECT_LE(model.engine.stats().blocks_in_use, 60);
    }
    for (auto& [i, one] : pending) {
      const Result<Generation> result = one.Wait();
      if (!result) {
        cancelled += result.error().kind == ErrorKind::kCancelled;
      } else if (result->sequences[0].token_ids == Expected(model.decoder, requests[i], 0)) {
        ++right;
      }
    }
  };
  std::vector<std::thread> clients;
  for (size_t i = 0; i < 8; ++i) clients.emplace_back(client, i);
  for (std::thread& thread : clients) thread.join();
  EXPECT_EQ(right + cancelled, 1000);
  EXPECT_GT(right, 500);
  EXPECT_GT(cancelled, 50);
  ExpectNoLeak(model);
}

}  // namespace
}  // namespace agentr
