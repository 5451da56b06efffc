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

// The world is a pure function of a task and the actions taken since Reset. By default the
// observation names both, and no episode ever ends. Thread-safe.
class FakeEnvironment : public Environment {
 public:
  // The result of the last of `actions` (if empty, the first observation).
  using World = std::function<StepResult(int task_id, const std::vector<std::string>& actions)>;

  // Receives every call ("open", "reset", "step", "expand") with its number (from 0) among the
  // calls of that name. If it returns an error, the call fails. In every second failed step the
  // action is taken nevertheless, as when a reply is lost.
  using Faults = std::function<std::optional<Error>(const std::string& call, int64_t number)>;

  explicit FakeEnvironment(bool can_expand, World world = TellActions, Faults faults = NoFaults);

  Result<std::unique_ptr<Session>> Open() override;
  bool CanExpand() const override { return can_expand_; }

  // Calls so far, including failed ones: "open", "reset", "step", "expand".
  int64_t calls(const std::string& call) const;
  int64_t live_sessions() const { return live_; }  // forks too

  // "task 3: a | b"
  static StepResult TellActions(int task_id, const std::vector<std::string>& actions);
  static std::optional<Error> NoFaults(const std::string& call, int64_t number);

 private:
  class FakeSession;

  // Counts the call and stores its number; returns its error if it is to fail.
  std::optional<Error> Enter(const std::string& call, int64_t* number = nullptr);

  const bool can_expand_;
  const World world_;
  const Faults faults_;
  std::atomic<int64_t> live_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> calls_;  // guarded by mutex_
};

}  // namespace agentr
