#include "common/random.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace agentr {
namespace {

using ::testing::ElementsAre;

// Sum of (observed - expected)^2 / expected.
double ChiSquare(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(RandomStream, DrawsAreFixedForGood) {
  // Worked out apart from the code, from the published splitmix64 step. A change here changes the
  // trees of every run.
  RandomStream random(42);
  const std::vector<uint64_t> draws = {random.Next(), random.Next(), random.Next()};
  EXPECT_THAT(draws, ElementsAre(0x989B3F130A063869u, 0x290DB4BF2570DED7u, 0x2A990BE63A01B2D5u));
  EXPECT_EQ(RandomStream(42).Split(7).Next(), 0x8DB71CFFDBE2F15Au);
  EXPECT_EQ(RandomStream(42).Split("search").Next(), 0x9D79B868A9DDA073u);
}

TEST(RandomStream, SplitsDoNotDependOnDraws) {
  RandomStream used(1);
  for (int i = 0; i < 10; ++i) used.Next();
  EXPECT_EQ(used.Split(5).Next(), RandomStream(1).Split(5).Next());
}

TEST(RandomStream, StreamsDiffer) {
  std::set<uint64_t> seen;
  const RandomStream root(1);
  constexpr uint64_t kStreams = 100;
  for (uint64_t i = 0; i < kStreams; ++i) {
    seen.insert(RandomStream(i).Next());
    seen.insert(root.Split(i).Next());
    seen.insert(root.Split(i).Split(0).Next());
    seen.insert(root.Split(0).Split(i + 1).Next());
    seen.insert(root.Split("task " + std::to_string(i)).Next());
  }
  EXPECT_EQ(seen.size(), 5 * kStreams);
}

TEST(RandomStream, SiblingStreamsAreNotCorrelated) {
  RandomStream a = RandomStream(3).Split(0);
  RandomStream b = RandomStream(3).Split(1);
  double sum = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) sum += (a.Uniform() - 0.5) * (b.Uniform() - 0.5);
  // Standard deviation of the mean of the products is 1/12 / sqrt(n): 0.0006.
  EXPECT_NEAR(sum / kDraws, 0, 0.003);
}

TEST(RandomStream, UniformFillsTheUnitInterval) {
  RandomStream random(4);
  std::vector<int> bins(20);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double draw = random.Uniform();
    ASSERT_GE(draw, 0);
    ASSERT_LT(draw, 1);
    ++bins[static_cast<size_t>(draw * 20)];
  }
  EXPECT_LT(ChiSquare(bins, kDraws / 20.0), 43.8);  // 99.9% of 19 degrees of freedom
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream random(5);
  std::vector<int> counts(7);
  for (int i = 0; i < 14000; ++i) ++counts.at(random.Below(7));
  EXPECT_LT(ChiSquare(counts, 2000), 22.5);  // 99.9% of 6 degrees of freedom
}

TEST(RandomStream, BelowHasNoBiasNearTheTop) {
  // Of 3 * 2^62 values a plain remainder would draw the first 2^62 twice as often as the others.
  RandomStream random(6);
  constexpr uint64_t kQuarter = uint64_t{1} << 62;
  std::vector<int> thirds(3);
  for (int i = 0; i < 9000; ++i) ++thirds.at(random.Below(3 * kQuarter) / kQuarter);
  EXPECT_LT(ChiSquare(thirds, 3000), 13.8);  // 99.9% of 2 degrees of freedom
}

TEST(RandomStream, BelowOneIsZero) { EXPECT_EQ(RandomStream(7).Below(1), 0u); }

TEST(RandomStream, ChanceHitsItsProbability) {
  RandomStream random(8);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += random.Chance(0.3) ? 1 : 0;
  EXPECT_NEAR(hits, 3000, 150);
  EXPECT_FALSE(random.Chance(0));
  EXPECT_TRUE(random.Chance(1));
}

TEST(RandomStream, ShufflesEveryOrderEquallyOften) {
  RandomStream random(9);
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {1, 2, 3, 4};
    random.Shuffle(items);
    ++orders[items];
  }
  ASSERT_EQ(orders.size(), 24u);
  std::vector<int> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_LT(ChiSquare(counts, 1000), 49.7);  // 99.9% of 23 degrees of freedom
}

TEST(RandomStream, SamplesWithoutRepetition) {
  RandomStream random(10);
  std::vector<int> counts(5);
  for (int i = 0; i < 5000; ++i) {
    const std::vector<int> sample = random.Sample(std::vector<int>{0, 1, 2, 3, 4}, 2);
    ASSERT_EQ(sample.size(), 2u);
    ASSERT_NE(sample[0], sample[1]);
    for (const int item : sample) ++counts.at(static_cast<size_t>(item));
  }
  EXPECT_LT(ChiSquare(counts, 2000), 18.5);
  EXPECT_EQ(random.Sample(std::vector<int>{1, 2}, 9).size(), 2u);
}

TEST(RandomStream, PicksEveryItem) {
  RandomStream random(11);
  const std::vector<int> items = {4, 5, 6};
  std::set<int> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random.Pick(items));
  EXPECT_THAT(seen, ElementsAre(4, 5, 6));
}

}  // namespace
}  // namespace agentr
