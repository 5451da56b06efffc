// An environment in memory that fails on demand, for tests of what uses environments.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "clients/environment.h"

namespace agentr {

// The world is a pure function of a task and the actions taken since Reset; by default the
// observation tells both and nothing is ever done. Thread-safe.
class FakeEnvironment : public Environment {
 public:
  // What stands behind `actions` (none: the first observation).
  using World = std::function<StepResult(int task_id, const std::vector<std::string>& actions)>;

  // Told of every call: "open", "reset", "step", "expand", and its number (from 0) among the calls
  // of that name; an error lets it fail. After a failed step the action has been taken in every
  // second case, as when a reply is lost.
  using Faults = std::function<std::optional<Error>(const std::string& call, int64_t number)>;

  explicit FakeEnvironment(bool can_expand, World world = TellActions, Faults faults = NoFaults);

  Result<std::unique_ptr<Session>> Open() override;
  bool CanExpand() const override { return can_expand_; }

  // Calls so far, the failed ones too: "open", "reset", "step", "expand".
  int64_t calls(const std::string& call) const;
  int64_t live_sessions() const { return live_; }  // forks too

  // "task 3: a | b"
  static StepResult TellActions(int task_id, const std::vector<std::string>& actions);
  static std::optional<Error> NoFaults(const std::string& call, int64_t number);
  // Each call but "open" fails with probability `rate`, a function of the seed, the call and its
  // number.
  static Faults SeededFaults(double rate, ErrorKind kind, uint64_t seed);

 private:
  class FakeSession;

  // Counts the call; its error if it is to fail, and its number.
  std::optional<Error> Enter(const std::string& call, int64_t* number = nullptr);

  const bool can_expand_;
  const World world_;
  const Faults faults_;
  std::atomic<int64_t> live_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> calls_;  // guarded by mutex_
};

}  // namespace agentr
