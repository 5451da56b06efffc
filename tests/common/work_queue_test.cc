#include "common/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace agentr {
namespace {

TEST(WorkQueue, DoesEveryItemOnce) {
  for (const int in_flight : {1, 8}) {
    std::atomic<bool> stop = false;
    std::vector<std::atomic<int>> done(100);
    WorkQueue queue(done.size(), in_flight, 3, stop);
    queue.Run([&](size_t item) { ++done[item]; });
    EXPECT_TRUE(std::ranges::all_of(done, [](int count) { return count == 1; }));
    EXPECT_FALSE(stop);
  }
}

TEST(WorkQueue, BeginsInOrder) {
  std::atomic<bool> stop = false;
  std::vector<size_t> order;
  WorkQueue(5, 1, 3, stop).Run([&](size_t item) { order.push_back(item); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(WorkQueue, EndsEarlyWhenStopped) {
  std::atomic<bool> stop = false;
  int done = 0;
  WorkQueue queue(100, 1, 3, stop);
  queue.Run([&](size_t item) {
    ++done;
    stop = item == 6;
  });
  EXPECT_EQ(done, 7);
  EXPECT_FALSE(queue.gave_up());
}

TEST(WorkQueue, WhatIsPutBackComesAgainAfterTheOthers) {
  std::atomic<bool> stop = false;
  std::vector<size_t> order;
  WorkQueue queue(3, 1, 3, stop);
  queue.Run([&](size_t item) {
    if (item == 0 && std::ranges::count(order, 0U) < 2) queue.PutBack(item);
    order.push_back(item);
  });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 0, 0}));
}

TEST(WorkQueue, DoesNotWaitForWhatIsPutBackOnceItIsStopped) {
  std::atomic<bool> stop = false;
  int done = 0;
  WorkQueue queue(1, 1, 3, stop);
  queue.Run([&](size_t item) {
    ++done;
    queue.PutBack(item);
    stop = true;
  });
  EXPECT_EQ(done, 1);
}

TEST(WorkQueue, GivesUpAfterFailuresInARow) {
  std::atomic<bool> stop = false;
  int done = 0;
  WorkQueue queue(100, 1, 3, stop);
  queue.Run([&](size_t item) {
    ++done;
    item == 2 ? queue.Succeeded() : queue.Failed();
  });
  EXPECT_EQ(done, 6) << "two, a success, and three";
  EXPECT_TRUE(queue.gave_up());
  EXPECT_TRUE(stop);
}

TEST(WorkQueue, WhatIsThrownStopsAllAndIsThrownAgain) {
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  WorkQueue queue(10000, 4, 3, stop);
  EXPECT_THROW(queue.Run([&](size_t item) {
    if (item == 20) throw std::runtime_error("the disk is full");
    ++done;
    while (item > 20 && !stop) std::this_thread::yield();
  }),
               std::runtime_error);
  EXPECT_LE(done, 20 + 3) << "the items before it and those of the three other threads";
  EXPECT_TRUE(stop);
}

}  // namespace
}  // namespace agentr
