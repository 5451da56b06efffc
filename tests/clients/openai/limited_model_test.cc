#include "clients/openai/limited_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/clients/expect_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

// Answers each request with `n` completions of 10 tokens, for prompts of 100 tokens.
class FixedModel : public LanguageModel {
 public:
  std::string name() const override { return "fixed"; }
  std::string identity() const override { return "id"; }
  Result<CompletionBatch> Complete(std::span<const Message>, int n,
                                   const SamplingParams&) override {
    ++calls;
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // so that requests overlap
    if (during) during(n);
    if (fail) return Fail(ErrorKind::kServer, "broken");
    CompletionBatch batch;
    batch.completions.resize(static_cast<size_t>(n));
    batch.usage = {.requests = requests, .prompt_tokens = 100, .completion_tokens = 10 * n};
    if (one_by_one) batch.usage.requests = n, batch.usage.prompt_tokens = 100 * n;
    return batch;
  }

  std::atomic<int> calls = 0;
  std::function<void(int n)> during;
  int64_t requests = 1;
  bool fail = false;
  bool one_by_one = false;  // as a server that ignores n
};

class LimitedModelTest : public ::testing::Test {
 protected:
  LimitedModel& Make(const ModelLimits& limits) {
    auto inner = std::make_unique<FixedModel>();
    inner_ = inner.get();
    model_ = std::make_unique<LimitedModel>(std::move(inner), limits,
                                            LimitedModel::Time{[this] { return now_; },
                                                               [this](double seconds) {
                                                                 waits_.push_back(seconds);
                                                                 now_ += seconds;
                                                                 return !stopped_;
                                                               }});
    return *model_;
  }
  // With at most 20 new tokens per completion.
  Result<CompletionBatch> Ask(int n = 1) {
    SamplingParams sampling;
    sampling.max_tokens = 20;
    PreparedPrompt prompt;
    prompt.messages = {{"user", "x"}};
    prompt.tokens = 100;
    return model_->CompletePrepared(prompt, n, sampling);
  }

  double now_ = 1000;
  bool stopped_ = false;
  std::vector<double> waits_;
  FixedModel* inner_ = nullptr;
  std::unique_ptr<LimitedModel> model_;
};

TEST_F(LimitedModelTest, SpacesRequestsEvenly) {
  Make({.rate = 30});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Ask());
  now_ += 10;  // nothing is saved up while nobody asks
  ASSERT_TRUE(Ask());
  ASSERT_TRUE(Ask());
  EXPECT_THAT(waits_, ElementsAre(2, 2, 2));
}

TEST_F(LimitedModelTest, WhatTheModelSendsAgainCountsToo) {
  Make({.rate = 60});
  inner_->requests = 3;
  ASSERT_TRUE(Ask());
  ASSERT_TRUE(Ask());
  EXPECT_THAT(waits_, ElementsAre(3));
}

TEST_F(LimitedModelTest, AStoppedRunDoesNotAsk) {
  Make({.rate = 60, .budget = 1000});
  ASSERT_TRUE(Ask());
  stopped_ = true;
  ExpectError(Ask(), ErrorKind::kCancelled);
  EXPECT_EQ(inner_->calls, 1);
}

TEST_F(LimitedModelTest, NeverExceedsItsTokens) {
  LimitedModel& model = Make({.budget = 240});
  ASSERT_TRUE(Ask());  // 110; at most 120
  ASSERT_TRUE(Ask());  // 220
  ExpectError(Ask(), ErrorKind::kRejected,
              "220 of 240 tokens are used, and this request may need 120");
  EXPECT_EQ(inner_->calls, 2);
  EXPECT_EQ(model.spent(), 220);
}

TEST_F(LimitedModelTest, AServerThatIgnoresNGetsThePromptNTimes) {
  LimitedModel& model = Make({.budget = 900});
  inner_->one_by_one = true;
  ASSERT_TRUE(Ask(3));  // 330
  ASSERT_TRUE(Ask(3));  // 660
  EXPECT_FALSE(Ask(3)) << "would need 330 more";
  EXPECT_EQ(model.spent(), 660);
}

TEST_F(LimitedModelTest, CountsMoneyWhereThereIsAPrice) {
  LimitedModel& model = Make({.budget = 0.002, .price = TokenPrice{5e-6, 20e-6}});
  ASSERT_TRUE(Ask(2));  // 100 prompt tokens, 20 new ones
  EXPECT_NEAR(model.spent(), 100 * 5e-6 + 20 * 20e-6, 1e-12);
  EXPECT_FALSE(Ask(3)) << "may cost 0.0017, and 0.0011 are left";
  EXPECT_TRUE(Ask(1)) << "0.0009 at most";
}

TEST_F(LimitedModelTest, AFailedRequestCostsNothing) {
  LimitedModel& model = Make({.budget = 120});
  inner_->fail = true;
  ASSERT_FALSE(Ask());
  inner_->fail = false;
  ASSERT_TRUE(Ask()) << "the reservation of the failed one is given back";
  EXPECT_EQ(model.spent(), 110);
}

TEST_F(LimitedModelTest, HoldsWithManyThreads) {
  LimitedModel& model = Make({.budget = 10'000});
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) answered += Ask() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  // 90 requests cost 9900; the next one may need 120.
  EXPECT_EQ(answered, 90);
  EXPECT_EQ(inner_->calls, 90);
  EXPECT_EQ(model.spent(), 9900);
}

// The sum of two reservations, without both again, is above 0.
TEST_F(LimitedModelTest, RoundingOfLargePricesHoldsNobodyUp) {
  const TokenPrice price{900, 2699.9999999999995};
  Make({.budget = 1e6, .price = price});
  std::atomic<bool> first_done = false;
  inner_->during = [&](int n) {
    while (n == 1 ? inner_->calls < 2 : !first_done) std::this_thread::yield();
  };
  std::thread first([&] {
    EXPECT_TRUE(Ask(1));
    first_done = true;
  });
  while (inner_->calls < 1) std::this_thread::yield();
  EXPECT_TRUE(Ask(3));
  first.join();
  inner_->during = nullptr;
  EXPECT_EQ(Ask(1000).error().kind, ErrorKind::kRejected);
}

TEST_F(LimitedModelTest, IsTheModelThatItLimits) {
  LimitedModel& model = Make({.rate = 60});
  EXPECT_EQ(model.name(), "fixed");
  EXPECT_EQ(model.identity(), "id");
}

TEST(TokenPriceTest, ReadsTwoNumbers) {
  EXPECT_DOUBLE_EQ(TokenPrice::Parse("2.5:10").prompt, 2.5e-6);
  EXPECT_DOUBLE_EQ(TokenPrice::Parse("2.5:10").completion, 10e-6);
  for (const char* bad : {"2.5", "2.5:", ":1", "a:b", "-1:2", "nan:1", "1:2:3"}) {
    EXPECT_THROW(TokenPrice::Parse(bad), FatalError) << bad;
  }
}

}  // namespace
}  // namespace agentr
