// Processes the items of a run, many at once.
//
// An item mostly waits for the model or the environment. Each item in flight therefore has its own
// thread, in a oneTBB arena with as many threads as items in flight, regardless of the number of
// cores: a waiting thread costs only its stack.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

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

  bool gave_up() const { return gave_up_; }

 private:
  void WorkOrStopAll(const std::function<void(size_t item)>& work);

  const size_t items_;
  const int in_flight_;
  const int give_up_after_;
  std::atomic<bool>& stop_;
  std::atomic<size_t> next_ = 0;
  std::atomic<int> failures_in_a_row_ = 0;
  std::atomic<bool> gave_up_ = false;
};

}  // namespace agentr
