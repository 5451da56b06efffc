#include "lm/decoder/thread_team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace agentr {
namespace {

// Each step reads what all members have written in the step before.
TEST(ThreadTeam, AfterAStepEveryMemberSeesTheWorkOfAll) {
  for (const int size : {1, 2, 5}) {
    ThreadTeam team(size);
    for (int run = 1; run <= 200; ++run) {
      std::vector<int> values(7), sums(3);
      team.Run(
          [&](ThreadTeam::Member& member) {
            for (int step = 0; step < 3; ++step) {
              member.ForEach(7, [&](int64_t i) { values[i] += static_cast<int>(i) + step; });
              member.ForEach(1, [&](int64_t) {
                sums[step] = std::accumulate(values.begin(), values.end(), 0);
              });
            }
          },
          1 + run % size);
      EXPECT_EQ(sums, (std::vector<int>{21, 49, 84}));
    }
  }
}

TEST(ThreadTeam, EveryPieceIsDoneOnce) {
  ThreadTeam team(3);
  for (const int64_t count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> done(1000);
    team.Run(
        [&](ThreadTeam::Member& member) { member.ForEach(count, [&](int64_t i) { ++done[i]; }); });
    for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(done[i], i < count ? 1 : 0) << count << " " << i;
  }
}

// While a member has a piece of a step, the others do all the rest of it; when it is put aside
// between two steps, they go on without it.
TEST(ThreadTeam, AMemberThatIsPutAsideHoldsUpNoOtherPiece) {
  ThreadTeam team(2);
  std::atomic<int> done = 0;
  std::atomic<bool> others_done = false;
  team.Run([&](ThreadTeam::Member& member) {
    member.ForEach(20, [&](int64_t i) {
      if (i == 0) {
        while (done < 19) std::this_thread::yield();  // ends only if the other one does them
      }
      ++done;
    });
    if (member.rank() == 1) {
      while (!others_done) std::this_thread::yield();
    }
    for (int step = 0; step < 3; ++step) member.ForEach(5, [&](int64_t) { ++done; });
    if (member.rank() == 0) others_done = true;  // reached though rank 1 is in none of these steps
  });
  EXPECT_EQ(done, 35);
}

}  // namespace
}  // namespace agentr
