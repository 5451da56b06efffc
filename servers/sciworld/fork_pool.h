// Simulators of forked sessions. A session may lose its simulator at any time when memory is short;
// it is made again from the path of the session, which is all that must be kept.
//
// Threads: any number.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "servers/sciworld/sciworld.h"

namespace agentr {

// The episodes in states that were left and may be visited again, by number of the state; the ones
// unused for the longest time are dropped first.
class ForkPool {
 public:
  // A number for a new state.
  int64_t NewState();
  // Stores the episode in `state`, and drops others until at most `most` are left.
  void Put(int64_t state, SciWorldEpisode episode, size_t most);
  // Removes the episode and returns it; nullopt if it was dropped.
  std::optional<SciWorldEpisode> Take(int64_t state);
  size_t size() const;

 private:
  using Entry = std::pair<int64_t, SciWorldEpisode>;

  mutable std::mutex mutex_;  // guards the members below
  int64_t next_ = 0;
  std::list<Entry> by_use_;  // the least recently used first
  std::unordered_map<int64_t, std::list<Entry>::iterator> entries_;
};

// The states through which a session went since it was reset: shared by a session and its forks.
// Destroying the last reference to a state drops its simulator.
class ForkPath {
 public:
  // The state after /reset. `pool` must outlive the path.
  static std::shared_ptr<ForkPath> Begin(ForkPool& pool, SimulatorTask task);
  // The state that `action` leads to.
  static std::shared_ptr<ForkPath> After(std::shared_ptr<ForkPath> before, std::string action);

  ForkPath(ForkPool& pool, SimulatorTask task, std::shared_ptr<ForkPath> before,
           std::string action);
  ~ForkPath();

  SimulatorTask task() const { return task_; }

  // An episode in this state: the stored one, or a copy of the nearest earlier one that plays the
  // rest, or one from the beginning. Throws SimulatorError.
  SciWorldEpisode Take(SimulatorSource& source) const;
  void Put(SciWorldEpisode episode, size_t most) const;

 private:
  ForkPool& pool_;
  const SimulatorTask task_;
  std::shared_ptr<ForkPath> before_;  // null in the state after /reset
  const std::string action_;
  const int64_t state_;
};

}  // namespace agentr
