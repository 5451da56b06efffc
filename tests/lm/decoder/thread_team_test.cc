#include "lm/decoder/thread_team.h"

#include <gtest/gtest.h>

#include <numeric>

namespace agentr {
namespace {

// Each member writes its part, and after the barrier reads those of all.
TEST(ThreadTeam, AfterABarrierEveryMemberSeesTheWorkOfAll) {
  for (const int size : {1, 2, 5}) {
    ThreadTeam team(size);
    std::vector<int> parts(size), sums(size);
    for (int run = 1; run <= 200; ++run) {
      team.Run([&](int rank) {
        for (int step = 0; step < 3; ++step) {
          parts[rank] = run * step + rank;
          team.Barrier();
          sums[rank] = std::accumulate(parts.begin(), parts.end(), 0);
          team.Barrier();
        }
      });
      EXPECT_EQ(sums, std::vector(size, 2 * run * size + size * (size - 1) / 2));
    }
  }
}

TEST(ThreadTeam, SharesCoverEverythingOnce) {
  ThreadTeam team(3);
  for (const int64_t count : {0, 1, 2, 3, 10}) {
    int64_t next = 0;
    for (int rank = 0; rank < 3; ++rank) {
      const auto [begin, end] = team.Share(count, rank);
      EXPECT_EQ(begin, next);
      EXPECT_LE(end - begin, count / 3 + 1);
      next = end;
    }
    EXPECT_EQ(next, count);
  }
}

}  // namespace
}  // namespace agentr
