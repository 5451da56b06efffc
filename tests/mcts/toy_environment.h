// A small deterministic world for tests: every action is legal, the observation tells the whole
// history that matters, and what goes wrong is decided by the test.
//
// Actions:
//   look…      leaves the state as it is, and looks like it ("look", "look up", …)
//   stuck…     leaves the state as it is, which nobody would guess from the action
//   end R      ends the episode with reward R, "end 1"; R may be negative
//   gain R     goes on with reward R, which may be negative
//   others     go on with reward 0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"
#include "tasks/task_family.h"

namespace agentr {

class ToyEnvironment : public Environment {
 public:
  enum class Op { kOpen, kReset, kStep, kExpand };

  struct Call {
    Op op;
    int64_t number;           // of the calls of this kind, from 1
    int task_id;              // -1 for kOpen
    std::string_view action;  // of kStep, and the first one of kExpand
  };

  struct Fault {
    ErrorKind kind;
    bool takes_effect = false;  // only the reply is lost
  };

  struct Counts {
    std::atomic<int64_t> opens = 0, resets = 0, steps = 0, expansions = 0, observations = 0;
    std::atomic<int64_t> live = 0, most_live = 0;  // opened sessions that are not yet closed
    // What no caller may do: two threads in one session, a step after an error without a reset, a
    // step after the end, an expansion of a session whose root is closed.
    std::atomic<int64_t> misuses = 0;
    int64_t calls() const { return resets + steps + expansions; }  // what LowerBound counts
  };

  explicit ToyEnvironment(bool forks = false) : forks_(forks) {}

  Result<std::unique_ptr<Session>> Open() override;
  bool CanExpand() const override { return forks_; }

  // The server loses all its sessions.
  void Restart() { ++epoch_; }

  // Decides what goes wrong; called from every thread. Set before the first call.
  std::function<std::optional<Fault>(const Call&)> fault;
  // Changes observations, for worlds that are not deterministic or not on one line.
  std::function<std::string(std::string observation, const Call&)> garble;

  bool repeats_observation = true;  // set before the first call

  Counts counts;

  // The laws of the world: what `action` gives after `history` (state-changing actions, each with a
  // space in front), and whether it changes anything.
  static StepResult Outcome(int task_id, const std::string& history, std::string_view action);
  static bool Changes(std::string_view action);
  static std::string FirstObservation(int task_id);

 private:
  friend class ToySession;
  std::optional<Fault> FaultOf(const Call& call) const {
    return fault ? fault(call) : std::nullopt;
  }
  std::string Told(std::string observation, const Call& call) const;

  const bool forks_;
  std::atomic<int> epoch_ = 0;  // grows with every restart
};

// The family of the toy world.
class ToyFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "toy"; }
  std::vector<Message> Instruction() const override;
  std::string ParseAction(std::string_view response) const override;
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;
  std::string_view RevisionAction() const override { return revision_action; }
  double SuccessReward() const override { return success; }

  std::string revision_action = "wait";
  double success = 1;
};

// Fails the calls of which `fails` is true.
std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> FailCalls(
    ErrorKind kind, std::function<bool(const ToyEnvironment::Call&)> fails);

// Fails every step of these tasks, as the environment's own error.
std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> FailSteps(
    std::set<int> tasks);

// Fails calls of kind `op` with probability `rate`, before or after they take effect, by a seed.
std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> RandomFaults(
    ToyEnvironment::Op op, double rate, uint64_t seed);

}  // namespace agentr
