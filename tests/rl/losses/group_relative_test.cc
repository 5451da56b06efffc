#include "rl/losses/group_relative.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/file.h"

namespace agentr {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(GroupAdvantages, AreStandardScores) {
  const std::vector<double> rewards = {1, 0, 0, 1, 0.5};  // mean 0.5, variance 1 / 5
  const double one = 0.5 / std::sqrt(0.2);
  const auto near = [](double value) { return DoubleNear(value, 1e-12); };
  EXPECT_THAT(GroupAdvantages(rewards),
              ElementsAre(near(one), near(-one), near(-one), near(one), near(0)));
  EXPECT_THAT(GroupAdvantages(rewards, false),
              ElementsAre(near(0.5), near(-0.5), near(-0.5), near(0.5), near(0)));
}

TEST(GroupAdvantages, OfEqualRewardsAreZero) {
  EXPECT_THAT(GroupAdvantages(std::vector<double>{0.1, 0.1, 0.1}), ElementsAre(0, 0, 0));
  EXPECT_THAT(GroupAdvantages(std::vector<double>{0.7}), ElementsAre(0));
  EXPECT_TRUE(GroupAdvantages({}).empty());
}

TEST(GrpoLoss, AddsTheDivergenceFromTheReference) {
  const TokenLoss token = GrpoLoss({-1, -1, -1.5}, 2, {.clip = 0.2, .kl = 0.5});
  EXPECT_NEAR(token.divergence, std::exp(-0.5) + 0.5 - 1, 1e-12);
  EXPECT_NEAR(token.loss, -2 + 0.5 * token.divergence, 1e-12);
}

// tests/golden/rl/grpo_losses.json: TRL's loss and its derivatives by every token.
TEST(GrpoLoss, OfAStepIsThatOfTrlInEveryAverage) {
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/grpo_losses.json"));
  const std::vector<double> advantages = golden["advantages"];
  using Tokens = std::vector<std::vector<double>>;
  const Tokens now = golden["now"], old = golden["old"], start = golden["start"];
  ASSERT_EQ(golden["cases"].size(), 4u);
  for (const auto& expected : golden["cases"]) {
    SCOPED_TRACE(expected["loss"].get<std::string>());
    GrpoOptions options;
    options.clip_high = expected["high"];
    options.kl = expected["kl"];
    options.average = *ValueOf(kGrpoAverages, expected["loss"].get<std::string>());
    options.constant = golden["limit"];
    GrpoStep step;
    for (const auto& row : now) {
      step.responses += 1;
      step.tokens += static_cast<double>(row.size());
    }
    double sum = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      const double share = TokenShare(step, now[i].size(), options);
      for (size_t t = 0; t < now[i].size(); ++t) {
        const TokenLoss token =
            GrpoLoss({now[i][t], old[i][t], start[i][t]}, advantages[i], options);
        sum += share * token.loss;
        EXPECT_NEAR(share * token.derivative, expected["derivatives"][i][t].get<double>(), 1e-12)
            << i << " " << t;
      }
    }
    EXPECT_NEAR(sum, expected["value"].get<double>(), 1e-12);
  }
}

TEST(GrpoLoss, ClipsHigherThanLower) {
  const GrpoOptions options = {.clip = 0.2, .clip_high = 0.3, .kl = 0};
  EXPECT_FALSE(GrpoLoss({std::log(1.25), 0, 0}, 1, options).clipped);
  EXPECT_TRUE(GrpoLoss({std::log(1.35), 0, 0}, 1, options).clipped);
  EXPECT_TRUE(GrpoLoss({std::log(0.75), 0, 0}, -1, options).clipped);
  EXPECT_TRUE(GrpoLoss({std::log(1.25), 0, 0}, 1, {.clip = 0.2, .kl = 0}).clipped);
}

TEST(GrpoLoss, TellsHowFarTheTokenMoved) {
  EXPECT_NEAR(GrpoLoss({-1, -1.5, 0}, 1, {.kl = 0}).moved, std::exp(0.5) - 1 - 0.5, 1e-12);
}

TEST(AwrWeight, IsTheExponentialUpToTheLargestWeight) {
  EXPECT_NEAR(AwrWeight(0.6, {.temperature = 0.3, .most_weight = 20}), std::exp(2), 1e-12);
  EXPECT_NEAR(AwrWeight(-0.6, {.temperature = 0.3, .most_weight = 20}), std::exp(-2), 1e-12);
  EXPECT_EQ(AwrWeight(1, {.temperature = 0.3, .most_weight = 20}), 20);
}

}  // namespace
}  // namespace agentr
