// Shows the thread sanitizer the order that a task library guarantees.
//
// oneTBB runs a task after the code that spawned it, and the caller goes on after the last task.
// The sanitizer cannot see this, because Debian's oneTBB is not built for it. So the caller calls
// Give before and Take after its tasks, and each task calls Take when it begins and Give when it
// ends. This adds no order that oneTBB does not keep anyway, and its cost is small beside a task's
// work.
#pragma once

#include <atomic>

namespace agentr {

class Handoff {
 public:
  // Publishes what this thread has done so far.
  void Give() { given_.fetch_add(1, std::memory_order_release); }
  // Makes visible what other threads published before.
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<unsigned> given_ = 0;
};

// Calls Take now and Give when the task's scope ends.
class HandoffScope {
 public:
  explicit HandoffScope(Handoff& handoff) : handoff_(handoff) { handoff_.Take(); }
  ~HandoffScope() { handoff_.Give(); }
  HandoffScope(const HandoffScope&) = delete;
  HandoffScope& operator=(const HandoffScope&) = delete;

 private:
  Handoff& handoff_;
};

}  // namespace agentr
