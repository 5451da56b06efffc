#include "common/work_queue.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace agentr {

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
      // One shared counter gives the items in order, however the threads run.
      const size_t item = next_++;
      if (item >= items_) return;
      work(item);
    }
  } catch (...) {
    stop_ = true;
    throw;
  }
}

void WorkQueue::Failed() {
  if (++failures_in_a_row_ < give_up_after_) return;
  gave_up_ = true;
  stop_ = true;
}

}  // namespace agentr
