// Processes the items of a run, many at once.
//
// An item mostly waits for the model or the environment. Each item in flight therefore has its own
// thread, in a oneTBB arena with as many threads as items in flight, regardless of the number of
// cores: a waiting thread costs only its stack.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace agentr {

inline constexpr int kMostInFlight = 4096;

class WorkQueue {
 public:
  // The run ends early once `stop` is set; `give_up_after` failures in a row set it.
  WorkQueue(size_t items, int in_flight, int give_up_after, std::atomic<bool>& stop)
      : items_(items), in_flight_(in_flight), give_up_after_(give_up_after), stop_(stop) {}

  // Calls work(0), work(1), … in this order, `in_flight` at once. An exception from one of them
  // stops all and is thrown again: its cause, such as a full disk, would stop the other items too.
  void Run(const std::function<void(size_t item)>& work);

  // Called by `work` with the result of its item.
  void Succeeded() { failures_in_a_row_ = 0; }
  void Failed();
  // Ends the run: the other items would fail for the same reason.
  void GiveUp();

  // Called by `work` if its item cannot be done yet: it comes again after the other items, and not
  // before half a second has passed.
  void PutBack(size_t item);

  bool gave_up() const { return gave_up_; }

 private:
  using Clock = std::chrono::steady_clock;

  void WorkOrStopAll(const std::function<void(size_t item)>& work);
  std::optional<size_t> Next();  // nullopt at the end

  const size_t items_;
  const int in_flight_;
  const int give_up_after_;
  std::atomic<bool>& stop_;
  std::atomic<size_t> next_ = 0;
  std::atomic<int> failures_in_a_row_ = 0;
  std::atomic<bool> gave_up_ = false;

  std::mutex mutex_;
  // Items that were put back, and when each may come again; guarded by mutex_.
  std::deque<std::pair<size_t, Clock::time_point>> later_;
};

}  // namespace agentr
