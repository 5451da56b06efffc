#include "eval/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/random.h"

namespace agentr {
namespace {

constexpr int kDataSets = 400;
constexpr size_t kTasks = 60;

using Draw = std::function<double(RandomStream&)>;

std::vector<double> Sample(const Draw& draw, size_t size, uint64_t seed) {
  RandomStream stream(seed);
  std::vector<double> values(size);
  for (double& value : values) value = draw(stream);
  return values;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// With the divisor n: what resampling from the values has.
double Deviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Share of data sets whose interval holds the truth.
double Coverage(const Draw& draw, double truth) {
  int covered = 0;
  for (uint64_t seed = 0; seed < kDataSets; ++seed) {
    const Estimate estimate = BootstrapMean(Sample(draw, kTasks, seed), {1000, seed});
    covered += estimate.low <= truth && truth <= estimate.high;
  }
  return static_cast<double>(covered) / kDataSets;
}

TEST(BootstrapTest, TheIntervalCoversTheTruthAsOftenAsItSays) {
  const auto bernoulli = [](RandomStream& stream) { return stream.Chance(0.4) ? 1.0 : 0.0; };
  const auto uniform = [](RandomStream& stream) { return stream.Uniform(); };
  const auto skewed = [](RandomStream& stream) { return std::pow(stream.Uniform(), 3); };
  for (const double coverage :
       {Coverage(bernoulli, 0.4), Coverage(uniform, 0.5), Coverage(skewed, 0.25)}) {
    EXPECT_GE(coverage, 0.91);
    EXPECT_LE(coverage, 0.98);
  }
}

// Attempts of a task are alike. Drawn as episodes, they would look like much more data than they
// are.
TEST(BootstrapTest, AttemptsOfATaskStayTogether) {
  constexpr size_t kAttempts = 8;
  int by_task = 0, by_episode = 0;
  for (uint64_t seed = 0; seed < kDataSets; ++seed) {
    RandomStream stream(seed);
    std::vector<double> means, episodes;
    for (size_t task_id = 0; task_id < 40; ++task_id) {
      const double chance = stream.Uniform();
      double sum = 0;
      for (size_t i = 0; i < kAttempts; ++i) {
        episodes.push_back(stream.Chance(chance) ? 1 : 0);
        sum += episodes.back();
      }
      means.push_back(sum / kAttempts);
    }
    const auto covers = [](const Estimate& e) { return e.low <= 0.5 && 0.5 <= e.high; };
    by_task += covers(BootstrapMean(means, {1000, seed}));
    by_episode += covers(BootstrapMean(episodes, {200, seed}));
  }
  EXPECT_GE(by_task, 0.91 * kDataSets);
  EXPECT_LE(by_task, 0.98 * kDataSets);
  EXPECT_LE(by_episode, 0.75 * kDataSets);
}

TEST(BootstrapTest, TheWidthIsThatOfTheStandardError) {
  const std::vector<double> values =
      Sample([](RandomStream& stream) { return stream.Uniform(); }, 200, 7);
  const Estimate estimate = BootstrapMean(values, {});
  const double standard_error = Deviation(values) / std::sqrt(200.0);
  EXPECT_NEAR(estimate.high - estimate.low, 2 * 1.959964 * standard_error, 0.1 * standard_error);
  EXPECT_NEAR((estimate.high + estimate.low) / 2, estimate.mean, 0.1 * standard_error);
  EXPECT_DOUBLE_EQ(estimate.mean, Mean(values));
  EXPECT_EQ(estimate.tasks, 200u);
}

TEST(BootstrapTest, TheSameSeedGivesTheSameInterval) {
  const std::vector<double> values =
      Sample([](RandomStream& stream) { return stream.Uniform(); }, 50, 3);
  const Estimate first = BootstrapMean(values, {1000, 5});
  const Estimate again = BootstrapMean(values, {1000, 5});
  const Estimate other = BootstrapMean(values, {1000, 6});
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
}

TEST(BootstrapTest, DataWithoutSpread) {
  EXPECT_EQ(BootstrapMean({}, {}).tasks, 0u);
  EXPECT_EQ(PairedBootstrap({}, {}).p, 1);
  for (const std::vector<double>& values : {std::vector<double>{0.3}, {0.1, 0.1, 0.1, 0.1}}) {
    const Estimate estimate = BootstrapMean(values, {});
    EXPECT_DOUBLE_EQ(estimate.mean, values[0]);
    EXPECT_EQ(estimate.low, estimate.mean);
    EXPECT_EQ(estimate.high, estimate.mean);
  }
}

// The limits are those of scipy.stats.binomtest(k, n).proportion_ci(method="wilson").
TEST(BootstrapTest, ARateThatNeverDiffersHasWilsonsInterval) {
  const auto rate = [](double value, size_t tasks) {
    return BootstrapRate(std::vector<double>(tasks, value), {});
  };
  EXPECT_EQ(rate(0, 8).low, 0);
  EXPECT_NEAR(rate(0, 8).high, 0.3244, 1e-4);
  EXPECT_NEAR(rate(1, 8).low, 0.6756, 1e-4);
  EXPECT_EQ(rate(1, 8).high, 1);
  EXPECT_NEAR(rate(0, 200).high, 0.0188, 1e-4);
  EXPECT_EQ(rate(0, 0).high, 0);
  EXPECT_EQ(BootstrapRate(std::vector<double>{0, 1, 1, 0}, {}).low,
            BootstrapMean(std::vector<double>{0, 1, 1, 0}, {}).low);
}

TEST(PairedBootstrapTest, FewTasksThatAgreeAreNotCertain) {
  for (size_t tasks = 1; tasks <= 8; ++tasks) {
    const std::vector<double> differences(tasks, 0.5);
    EXPECT_DOUBLE_EQ(PairedBootstrap(differences, {}).p, std::pow(2, 1 - double(tasks)));
  }
  const PairedDifference none = PairedBootstrap(std::vector<double>(20, 0.0), {});
  EXPECT_EQ(none.p, 1);
  EXPECT_EQ(none.estimate.low, 0);
  EXPECT_EQ(none.estimate.high, 0);
}

TEST(PairedBootstrapTest, RejectsATrueHypothesisAsOftenAsItSays) {
  int rejected = 0;
  for (uint64_t seed = 0; seed < kDataSets; ++seed) {
    const auto difference = [](RandomStream& stream) {
      return double(stream.Chance(0.5)) - double(stream.Chance(0.5));
    };
    rejected += PairedBootstrap(Sample(difference, kTasks, seed), {1000, seed}).p < 0.05;
  }
  EXPECT_GE(rejected, 0.02 * kDataSets);
  EXPECT_LE(rejected, 0.09 * kDataSets);
}

// With normal differences p is 2 (1 - Phi(|mean| sqrt(n) / s)).
TEST(PairedBootstrapTest, PIsThatOfTheNormalLimit) {
  const auto difference = [](RandomStream& stream) { return 0.05 + stream.Uniform() - 0.5; };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<double> differences = Sample(difference, 200, seed);
    const double z = std::abs(Mean(differences)) * std::sqrt(200.0) / Deviation(differences);
    EXPECT_NEAR(PairedBootstrap(differences, {}).p, std::erfc(z / std::sqrt(2.0)), 0.02);
  }
}

TEST(PairedBootstrapTest, SeesADifferenceThatTwoIntervalsDoNot) {
  RandomStream stream(1);
  std::vector<double> a, b, differences;
  for (size_t task_id = 0; task_id < kTasks; ++task_id) {
    const double easy = stream.Uniform();
    a.push_back(0.8 * easy);
    b.push_back(0.8 * easy + 0.2 * stream.Uniform());
    differences.push_back(b.back() - a.back());
  }
  const Estimate of_a = BootstrapMean(a, {}), of_b = BootstrapMean(b, {});
  const PairedDifference paired = PairedBootstrap(differences, {});
  EXPECT_GT(of_a.high, of_b.low) << "the intervals overlap";
  EXPECT_LT(paired.p, 0.001);
  EXPECT_GT(paired.estimate.low, 0);
  EXPECT_LT(paired.estimate.high - paired.estimate.low, (of_a.high - of_a.low) / 2);
}

}  // namespace
}  // namespace agentr
