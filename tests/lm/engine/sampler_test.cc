#include "lm/engine/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace agentr {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Logits whose distribution is `probabilities`.
std::vector<float> LogitsOf(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p) + 3));
  return logits;
}

// The distribution that the knobs leave, by token.
std::map<int32_t, double> Shaped(const std::vector<float>& logits, const SamplingParams& knobs,
                                 const std::vector<int32_t>& history = {}) {
  Sampler sampler;
  const std::span<const Candidate> candidates = sampler.FilterLogits(logits, knobs, history);
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  std::map<int32_t, double> shaped;
  for (const auto& [token, weight] : candidates) shaped[token] += weight / total;
  return shaped;
}

void ExpectNear(const std::map<int32_t, double>& shaped,
                const std::map<int32_t, double>& expected) {
  ASSERT_EQ(shaped.size(), expected.size());
  for (const auto& [token, p] : expected) {
    ASSERT_EQ(shaped.count(token), 1u) << token;
    EXPECT_NEAR(shaped.at(token), p, 1e-6) << token;
  }
}

std::vector<float> RandomLogits(size_t count, uint64_t seed, double spread = 8) {
  RandomStream random(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = static_cast<float>(random.Uniform() * spread);
  return logits;
}

TEST(Sampler, PlainKnobsLeaveTheModelsDistribution) {
  ExpectNear(Shaped(LogitsOf({0.5, 0.25, 0.15, 0.1}), {}),
             {{0, 0.5}, {1, 0.25}, {2, 0.15}, {3, 0.1}});
}

TEST(Sampler, TemperatureRaisesProbabilitiesToItsInverse) {
  // Squares at 1/2, square roots at 2.
  ExpectNear(Shaped(LogitsOf({0.8, 0.2}), {.temperature = 0.5}), {{0, 16 / 17.0}, {1, 1 / 17.0}});
  ExpectNear(Shaped(LogitsOf({0.8, 0.2}), {.temperature = 2}), {{0, 2 / 3.0}, {1, 1 / 3.0}});
}

TEST(Sampler, TemperatureZeroTakesTheGreatestOfEqualsTheLowestId) {
  ExpectNear(Shaped({1, 3, 2, 3, 3}, {.temperature = 0}), {{1, 1.0}});
  ExpectNear(Shaped({1, 3, 2, 3.5, 3}, {.temperature = 1e-40}), {{3, 1.0}});
}

TEST(Sampler, TopKKeepsKOfEqualsTheLowestIds) {
  const auto logits = LogitsOf({0.1, 0.4, 0.2, 0.2, 0.1});
  ExpectNear(Shaped(logits, {.top_k = 2}), {{1, 2 / 3.0}, {2, 1 / 3.0}});
  ExpectNear(Shaped(logits, {.top_k = 1}), {{1, 1.0}});
  EXPECT_EQ(Shaped(logits, {.top_k = 5}).size(), 5u);
  EXPECT_EQ(Shaped(logits, {.top_k = 500}).size(), 5u);
}

TEST(Sampler, TopPKeepsTheSmallestSetOfThatMass) {
  const auto logits = LogitsOf({0.1, 0.5, 0.15, 0.25});
  ExpectNear(Shaped(logits, {.top_p = 0.7}), {{1, 2 / 3.0}, {3, 1 / 3.0}});
  ExpectNear(Shaped(logits, {.top_p = 0.8}), {{1, 0.5 / 0.9}, {3, 0.25 / 0.9}, {2, 0.15 / 0.9}});
  ExpectNear(Shaped(logits, {.top_p = 0.01}), {{1, 1.0}});
}

TEST(Sampler, TopPCountsTheMassThatTopKAndTheTemperatureLeave) {
  // 0.4 of 0.7 are 57%: enough for 0.5, though not of the whole.
  ExpectNear(Shaped(LogitsOf({0.4, 0.3, 0.2, 0.1}), {.top_k = 2, .top_p = 0.55}), {{0, 1.0}});
  // At 1/2: 16/17 and 1/17.
  ExpectNear(Shaped(LogitsOf({0.8, 0.2}), {.temperature = 0.5, .top_p = 0.9}), {{0, 1.0}});
}

TEST(Sampler, MinPIsAShareOfTheMostProbable) {
  const auto logits = LogitsOf({0.5, 0.26, 0.14, 0.1});
  ExpectNear(Shaped(logits, {.min_p = 0.5}), {{0, 0.5 / 0.76}, {1, 0.26 / 0.76}});
  ExpectNear(Shaped(logits, {.min_p = 1}), {{0, 1.0}});
  ExpectNear(Shaped(logits, {.top_p = 0.85, .min_p = 0.25}),
             {{0, 0.5 / 0.9}, {1, 0.26 / 0.9}, {2, 0.14 / 0.9}});
  ExpectNear(Shaped(logits, {.top_p = 0.85, .min_p = 0.3}), {{0, 0.5 / 0.76}, {1, 0.26 / 0.76}});
  ExpectNear(Shaped(logits, {.top_k = 3, .min_p = 0.5}), {{0, 0.5 / 0.76}, {1, 0.26 / 0.76}});
}

TEST(Sampler, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogitsOnce) {
  const std::vector<float> logits = {2, -1, 1, 0.5};
  const double rest = std::exp(1) + std::exp(0.5);
  const double total = std::exp(1) + std::exp(-2) + rest;
  ExpectNear(Shaped(logits, {.repetition_penalty = 2}, {0, 1, 0, 0}), {{0, std::exp(1) / total},
                                                                       {1, std::exp(-2) / total},
                                                                       {2, std::exp(1) / total},
                                                                       {3, std::exp(0.5) / total}});
  ExpectNear(Shaped(logits, {.temperature = 0, .repetition_penalty = 3}, {0}), {{2, 1.0}});
}

TEST(Sampler, TruncationMatchesSortingEverything) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<float> logits = RandomLogits(1 + seed * 97, seed, seed % 2 == 0 ? 1 : 20);
    const double top_p = 0.3 + 0.0173 * static_cast<double>(seed);
    std::vector<std::pair<double, int32_t>> order;
    double total = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      order.push_back({-logits[i], static_cast<int32_t>(i)});
      total += std::exp(static_cast<double>(logits[i]));
    }
    std::sort(order.begin(), order.end());
    std::map<int32_t, double> expected;
    double mass = 0;
    for (size_t i = 0; i < order.size() && mass < top_p * total; ++i) {
      mass += expected[order[i].second] = std::exp(-order[i].first);
    }
    for (auto& [token, p] : expected) p /= mass;
    ExpectNear(Shaped(logits, {.top_p = top_p}), expected);
  }
}

TEST(Sampler, ReportsTheModelsOwnLogProbabilities) {
  const auto logits = LogitsOf({0.5, 0.25, 0.15, 0.1});
  RandomStream random(1);
  const SamplingParams knobs{.temperature = 0.1, .top_k = 1, .repetition_penalty = 9};
  const SampledToken sampled =
      Sampler().Sample(logits, knobs, std::vector<int32_t>{0, 1, 2}, random, 2);
  EXPECT_EQ(sampled.token, 3);
  EXPECT_NEAR(sampled.logprob, std::log(0.1), 1e-6);
  ASSERT_EQ(sampled.alternatives.size(), 2u);
  EXPECT_EQ(sampled.alternatives[0].token, 0);
  EXPECT_NEAR(sampled.alternatives[0].logprob, std::log(0.5), 1e-6);
  EXPECT_EQ(sampled.alternatives[1].token, 1);
  EXPECT_NEAR(sampled.alternatives[1].logprob, std::log(0.25), 1e-6);
}

TEST(Sampler, LogSumIsExactForWideRowsAndEveryDistance) {
  for (const size_t width : {1u, 15u, 16u, 255u, 256u, 257u, 150000u}) {
    const std::vector<float> logits = RandomLogits(width, width, 30);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    EXPECT_NEAR(Sampler().LogSumExp(logits), std::log(sum), 2e-6) << width;
  }
  EXPECT_NEAR(Sampler().LogSumExp(std::vector<float>{-kInfinity, 5, -kInfinity}), 5, 1e-6);
  EXPECT_NEAR(Sampler().LogSumExp(std::vector<float>{3e38f, -3e38f}), 3e38, 1e31);
  for (float x = 0; x > -20; x -= 0.0137f) {
    EXPECT_NEAR(Sampler().LogSumExp(std::vector<float>{0, x}), std::log1p(std::exp(double{x})),
                1e-7);
  }
}

TEST(Sampler, RefusesLogitsThatAreNoNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& logits :
       {std::vector<float>{nan, nan}, {1, nan}, {-kInfinity, -kInfinity}, {1, kInfinity}}) {
    EXPECT_THROW(Sampler().LogSumExp(logits), std::runtime_error);
    EXPECT_THROW(Sampler().FilterLogits(logits, {}, {}), std::runtime_error);
  }
}

TEST(TopK, OrdersByValueThenId) {
  const auto tokens = [](const std::vector<float>& values, size_t count) {
    std::vector<int32_t> ids;
    for (const Candidate& candidate : TopK(values, count)) ids.push_back(candidate.token);
    return ids;
  };
  EXPECT_THAT(tokens({1, 5, 3, 5, 5, 2}, 4), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(tokens({1, 5}, 9), ElementsAre(1, 0));
  EXPECT_THAT(tokens({1, 5}, 0), ElementsAre());
}

// 100,000 draws against the computed distribution; `limit` is the 99.9% quantile of chi-square for
// one less than the number of tokens left.
void ExpectDraws(const std::vector<float>& logits, const SamplingParams& knobs,
                 const std::map<int32_t, double>& expected, double limit) {
  constexpr int kDraws = 100000;
  Sampler sampler;
  RandomStream random(5);
  std::map<int32_t, int> counts;
  const std::span<const Candidate> candidates = sampler.FilterLogits(logits, knobs, {});
  for (int i = 0; i < kDraws; ++i) ++counts[Draw(candidates, random)];
  double chi_square = 0;
  for (const auto& [token, p] : expected) {
    const double difference = counts[token] - p * kDraws;
    chi_square += difference * difference / (p * kDraws);
  }
  EXPECT_EQ(counts.size(), expected.size());
  EXPECT_LT(chi_square, limit);
  EXPECT_GT(chi_square, 0);
}

TEST(Sampler, DrawsFollowTheDistribution) {
  ExpectDraws(LogitsOf({0.5, 0.25, 0.15, 0.1}), {}, {{0, 0.5}, {1, 0.25}, {2, 0.15}, {3, 0.1}},
              16.3);
  // At temperature 1/2 weights are squares: 25, 16, 9, 4, 1 of 55. Top-k drops the last; of the
  // remaining 54 the first three have 50, more than 0.9 of them; min-p asks for 0.5 of 25.
  const auto logits = LogitsOf({5 / 15.0, 4 / 15.0, 3 / 15.0, 2 / 15.0, 1 / 15.0});
  ExpectDraws(logits, {.temperature = 0.5, .top_k = 4, .top_p = 0.9, .min_p = 0.5},
              {{0, 25 / 41.0}, {1, 16 / 41.0}}, 10.8);
  ExpectDraws(logits, {.temperature = 0.5, .top_k = 4, .top_p = 0.9},
              {{0, 0.5}, {1, 0.32}, {2, 0.18}}, 13.8);
}

TEST(Sampler, DrawsDoNotDependOnEarlierRows) {
  const std::vector<float> logits = RandomLogits(1000, 3);
  Sampler used;
  RandomStream other(9);
  used.Sample(RandomLogits(5000, 4), {.top_k = 7, .repetition_penalty = 2}, {}, other, 3);
  RandomStream a(6);
  RandomStream b(6);
  const SamplingParams greedy{.temperature = 0};
  used.Sample(RandomLogits(5000, 4), {}, {}, other, 0);
  EXPECT_EQ(used.Sample(logits, greedy, {}, other, 0).logprob,
            Sampler().Sample(logits, greedy, {}, other, 0).logprob);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(used.Sample(logits, {}, {}, a, 0).token,
              Sampler().Sample(logits, {}, {}, b, 0).token);
  }
}

}  // namespace
}  // namespace agentr
