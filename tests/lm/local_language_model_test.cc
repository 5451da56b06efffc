#include "lm/local_language_model.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/interrupt.h"
#include "tests/clients/count_tokens.h"
#include "tests/lm/small_lm.h"

namespace agentr {
namespace {

using ::testing::Each;
using ::testing::Le;

using ::testing::SizeIs;

const std::vector<Message> kChat = {{"system", "be brief"}, {"user", "what is a?"}};

class LocalLanguageModelTest : public ::testing::Test {
 protected:
  CompletionBatch Complete(int n, const SamplingParams& sampling,
                           const std::vector<Message>& chat = kChat) {
    auto batch = model_.Complete(chat, n, sampling);
    EXPECT_TRUE(batch) << batch.error().message;
    return batch.value_or(CompletionBatch{});
  }

  LocalLanguageModel model_{SmallModel(/*max_context=*/200)};
  const CharacterTokenizer tokenizer_;
};

TEST_F(LocalLanguageModelTest, CompletionsCarryTheirTokens) {
  const CompletionBatch batch = Complete(8, {.max_tokens = 40, .seed = 1});
  ASSERT_THAT(batch.completions, SizeIs(8));
  int64_t tokens = 0;
  for (const Completion& c : batch.completions) {
    tokens += std::ssize(c.token_ids);
    EXPECT_EQ(tokenizer_.Decode(c.token_ids, /*skip_special=*/true), c.text);
    EXPECT_EQ(c.token_ids.back() == CharacterTokenizer::kEnd, c.finish_reason == "stop");
    EXPECT_EQ(c.token_ids.size() == 40, c.finish_reason == "length");
    EXPECT_THAT(c.logprobs, SizeIs(c.token_ids.size()));
    EXPECT_THAT(c.logprobs, Each(Le(0)));
  }
  EXPECT_EQ(batch.usage.requests, 1);
  EXPECT_EQ(batch.usage.completion_tokens, tokens);
  EXPECT_EQ(batch.usage.prompt_tokens, CountTokens(model_, kChat));
}

// A response that ends at a text is that before it, in its tokens too, also if the text is several.
TEST_F(LocalLanguageModelTest, AStopTextIsLeftOutOfTextAndTokens) {
  const std::string whole = Complete(1, {.temperature = 0, .max_tokens = 40}).completions[0].text;
  ASSERT_GT(whole.size(), 8U);
  const std::string stop = whole.substr(5, 3);
  const CompletionBatch batch = Complete(1, {.temperature = 0, .max_tokens = 40, .stop = {stop}});
  const Completion& said = batch.completions[0];
  EXPECT_EQ(said.text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(said.finish_reason, "stop");
  EXPECT_EQ(tokenizer_.Decode(said.token_ids, /*skip_special=*/true), said.text);
  EXPECT_THAT(said.logprobs, SizeIs(said.token_ids.size()));
  EXPECT_EQ(batch.usage.completion_tokens, std::ssize(said.token_ids) + 3);
  // The next prompt has the response as it was sampled.
  const auto next = model_.Prepare({{"user", "a"}, {"assistant", said.text}, {"user", "b"}},
                                   std::vector<std::span<const int32_t>>{{}, said.token_ids, {}});
  EXPECT_EQ(next.value().reused_turns, 1);
}

TEST(LocalLanguageModelStop, AnInterruptEndsTheResponsesInProgress) {
  LoadedModel slow = SmallModel(/*max_context=*/200);
  std::atomic<int> rounds = 0;
  static_cast<FakeDecoder&>(*slow.decoder).before_forward = [&](auto) {
    if (++rounds == 3) StopOnSignal() = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  };
  LocalLanguageModel model(std::move(slow));
  const auto batch = model.Complete(kChat, 8, {.max_tokens = 150, .seed = 1});
  StopOnSignal() = false;
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().kind, ErrorKind::kCancelled);
  EXPECT_LT(rounds, 100);
}

TEST_F(LocalLanguageModelTest, TheSeedDecides) {
  const auto texts = [&](uint64_t seed) {
    std::vector<std::string> all;
    for (const Completion& c : Complete(4, {.max_tokens = 30, .seed = seed}).completions) {
      all.push_back(c.text);
    }
    return all;
  };
  EXPECT_EQ(texts(1), texts(1));
  EXPECT_NE(texts(1), texts(2));
  EXPECT_NE(texts(1)[0], texts(1)[1]);
}

TEST_F(LocalLanguageModelTest, SamplingReachesTheEngine) {
  const auto text = [&](SamplingParams sampling) {
    sampling.max_tokens = 30;
    return Complete(1, sampling).completions[0].text;
  };
  const std::string greedy = text({.temperature = 0});
  EXPECT_EQ(text({.top_p = 1e-6, .seed = 5}), greedy);
  EXPECT_NE(text({.seed = 5}), greedy);
  const std::string stop = greedy.substr(2, 2);
  EXPECT_EQ(text({.temperature = 0, .stop = {stop}}), greedy.substr(0, greedy.find(stop)));
}

TEST_F(LocalLanguageModelTest, ALongerConversationFindsItsPromptInTheCache) {
  const CompletionBatch first = Complete(1, {.max_tokens = 20});
  std::vector<Message> longer = kChat;
  longer.push_back({"assistant", first.completions[0].text});
  longer.push_back({"user", "go on"});
  EXPECT_GE(Complete(1, {.max_tokens = 20}, longer).usage.cached_tokens,
            first.usage.prompt_tokens - 4);
}

TEST_F(LocalLanguageModelTest, CountsExactly) {
  // "^", "s:be brief" and its end, "u:what is a?" and its end, "a:".
  EXPECT_EQ(CountTokens(model_, kChat), 1 + 10 + 1 + 12 + 1 + 2);
}

TEST_F(LocalLanguageModelTest, APromptOverTheContext) {
  const std::vector<Message> chat = {{"user", std::string(170, 'x')}};  // 176 tokens
  EXPECT_TRUE(model_.Complete(chat, 1, {.max_tokens = 20}));
  for (const int tokens : {30, 500}) {
    const auto batch = model_.Complete(chat, 1, {.max_tokens = tokens});
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().kind, ErrorKind::kContextLength);
  }
}

TEST_F(LocalLanguageModelTest, AConversationThatTheTemplateCannotSay) {
  const std::vector<Message> chat = {{"assistant", "me"}};
  const auto batch = model_.Complete(chat, 1, {});
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().kind, ErrorKind::kRejected);
  EXPECT_EQ(EstimateTokens(chat), 5);  // the estimate
}

}  // namespace
}  // namespace agentr
