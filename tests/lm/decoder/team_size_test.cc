#include "lm/decoder/team_size.h"

#include <gtest/gtest.h>

#include <functional>

namespace agentr {
namespace {

// Takes steps whose time is cost(threads); returns the share of them with `threads` threads.
double Share(TeamSize& size, int64_t rows, int steps, int threads,
             const std::function<double(int)>& cost) {
  int with = 0;
  for (int i = 0; i < steps; ++i) {
    const int now = size.Next(rows);
    with += now == threads;
    size.Took(rows, cost(now));
  }
  return static_cast<double>(with) / steps;
}

TEST(TeamSize, StaysWithAllThreadsWhereTheyAreFaster) {
  TeamSize size(8);
  EXPECT_GT(Share(size, 1, 4000, 8, [](int threads) { return 1.0 / threads; }), 0.97);
}

TEST(TeamSize, FindsTheFastestNumber) {
  for (const int best : {1, 2, 4, 6}) {
    TeamSize size(6);
    const auto cost = [&](int threads) { return 1.0 + std::abs(threads - best); };
    Share(size, 32, 3000, best, cost);
    EXPECT_GT(Share(size, 32, 4000, best, cost), 0.9) << best;
  }
}

TEST(TeamSize, ComesBackWhenTheOtherProcessesHaveEnded) {
  TeamSize size(2);
  const auto busy = [](int threads) { return threads == 1 ? 1.0 : 5.0; };
  const auto quiet = [](int threads) { return 1.0 / threads; };
  Share(size, 1, 1000, 1, busy);
  EXPECT_GT(Share(size, 1, 1000, 1, busy), 0.9);
  Share(size, 1, 5000, 2, quiet);
  EXPECT_GT(Share(size, 1, 1000, 2, quiet), 0.9);
}

TEST(TeamSize, StepsOfManyRowsAreJudgedApart) {
  TeamSize size(2);
  for (int i = 0; i < 2000; ++i) {
    size.Took(1, size.Next(1) == 1 ? 1 : 2);
    size.Took(512, size.Next(512) == 1 ? 2 : 1);
  }
  EXPECT_EQ(size.Next(1), 1);
  EXPECT_EQ(size.Next(512), 2);
}

TEST(TeamSize, ASingleThreadHasNoChoice) {
  TeamSize size(1);
  EXPECT_EQ(Share(size, 1, 1000, 1, [](int) { return 1.0; }), 1);
}

}  // namespace
}  // namespace agentr
