#include "common/work_queue.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <thread>

namespace agentr {
namespace {
constexpr std::chrono::milliseconds kPause(500);  // until an item that was put back comes again
constexpr std::chrono::milliseconds kLookAtStop(50);
}  // namespace

void WorkQueue::Run(const std::function<void(size_t item)>& work) {
  namespace tbb = oneapi::tbb;
  // TBB fixes its maximum number of threads at first use, so it is set to the largest value; the
  // arena limits the threads of one run.
  static const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                           kMostInFlight + 1);
  tbb::task_arena arena(in_flight_);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, in_flight_, 1), [&](const auto&) { WorkOrStopAll(work); },
        tbb::simple_partitioner());
  });
}

void WorkQueue::WorkOrStopAll(const std::function<void(size_t item)>& work) {
  try {
    while (!stop_) {
      const std::optional<size_t> item = Next();
      if (!item) return;
      work(*item);
    }
  } catch (...) {
    stop_ = true;
    throw;
  }
}

std::optional<size_t> WorkQueue::Next() {
  // One shared counter gives the items in order, however the threads run.
  if (const size_t item = next_++; item < items_) return item;
  std::unique_lock lock(mutex_);
  // A thread that puts an item back asks for the next one itself, so that no other needs to wait
  // for it here.
  if (later_.empty()) return std::nullopt;
  const auto [item, when] = later_.front();
  later_.pop_front();
  lock.unlock();
  while (!stop_ && Clock::now() < when) {
    std::this_thread::sleep_for(std::min<Clock::duration>(when - Clock::now(), kLookAtStop));
  }
  if (stop_) return std::nullopt;
  return item;
}

void WorkQueue::PutBack(size_t item) {
  const std::lock_guard lock(mutex_);
  later_.emplace_back(item, Clock::now() + kPause);
}

void WorkQueue::Failed() {
  if (++failures_in_a_row_ >= give_up_after_) GiveUp();
}

void WorkQueue::GiveUp() {
  gave_up_ = true;
  stop_ = true;
}

}  // namespace agentr
