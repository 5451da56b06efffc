// Environments as the search sees them: sessions of tasks, wherever they run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace agentr {

// What the environment answers to one action. The reward is in [0, 1] (an adapter scales what its
// server reports); a negative reward is kept, the search treats it as a disaster.
struct StepResult {
  std::string observation;
  double reward = 0;
  bool done = false;

  bool operator==(const StepResult&) const = default;
};

class Session;

// One child of an expansion: a session of its own that stands behind the action taken.
struct Fork {
  std::unique_ptr<Session> session;
  StepResult step;
};

// One running episode. Used by one thread at a time; the destructor closes it on the server.
//
// After an error of Step the session may stand before or behind the action (the reply was lost):
// the caller must Reset it before using it again. A failed Reset or Expand may simply be repeated.
class Session {
 public:
  virtual ~Session() = default;

  // Starts the task `task_id` from its beginning; the first observation.
  virtual Result<std::string> Reset(int task_id) = 0;

  virtual Result<StepResult> Step(std::string_view action) = 0;

  // Takes each action on a fork of this session, which itself stays where it is. Only where
  // Environment::CanExpand(); destroying a session ends its forks too.
  virtual Result<std::vector<Fork>> Expand(const std::vector<std::string>& actions) = 0;

  // What an extension of the server (ServerVersion::extensions) lists about the session where it
  // stands: "gold", "valid_actions". kRejected where there is none of it. May be repeated.
  virtual Result<std::vector<std::string>> Query(std::string_view extension) {
    return Fail(ErrorKind::kRejected,
                "this environment has no extension \"" + std::string(extension) + "\"");
  }
};

// Makes sessions. Thread-safe, and outlives its sessions.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual Result<std::unique_ptr<Session>> Open() = 0;
  virtual bool CanExpand() const = 0;
};

}  // namespace agentr
