// Says to the thread sanitizer what a task library orders.
//
// oneTBB orders what its tasks do (a task after what spawned it, the caller after the last task),
// but within its own library, which is not built for the sanitizer. A task that calls Take when it
// begins and Give when it ends, between a Give and a Take of the caller, says the same where it is
// seen. It adds no order of its own, and costs nothing beside the work of a task.
#pragma once

#include <atomic>

namespace agentr {

class Handoff {
 public:
  // What this thread has done so far …
  void Give() { given_.fetch_add(1, std::memory_order_release); }
  // … is seen by who takes after it.
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<unsigned> given_ = 0;
};

// For the length of one task.
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
