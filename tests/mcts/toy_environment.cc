#include "tests/mcts/toy_environment.h"

#include <fmt/core.h>

#include <cstdlib>
#include <utility>

#include "common/random.h"
#include "tasks/action_text.h"

namespace agentr {
namespace {

constexpr std::string_view kNothing = "Nothing changes";

double NumberAfter(std::string_view verb, std::string_view action) {
  return std::strtod(std::string(action.substr(verb.size())).c_str(), nullptr);
}

}  // namespace

class ToySession : public Session {
 public:
  using Op = ToyEnvironment::Op;
  using Fault = ToyEnvironment::Fault;

  explicit ToySession(ToyEnvironment& world)
      : world_(world),
        epoch_(world.epoch_),
        alive_(std::make_shared<std::atomic<bool>>(true)),
        root_(true) {
    const int64_t live = ++world.counts.live;
    int64_t most = world.counts.most_live;
    while (most < live && !world.counts.most_live.compare_exchange_weak(most, live)) {
    }
  }

  // A fork of `parent` behind `action`; it lives as long as the root of both.
  ToySession(const ToySession& parent, std::string_view action, bool ended)
      : world_(parent.world_),
        epoch_(parent.epoch_),
        alive_(parent.alive_),
        root_(false),
        task_id_(parent.task_id_),
        history_(parent.history_),
        ended_(ended) {
    Go(action);
  }

  ~ToySession() override {
    if (!root_) return;
    *alive_ = false;
    --world_.counts.live;
  }

  Result<std::string> Reset(int task_id) override {
    const User user(*this);
    const ToyEnvironment::Call call{Op::kReset, ++world_.counts.resets, task_id, ""};
    if (const auto fault = world_.FaultOf(call)) return FailWith(*fault);
    epoch_ = world_.epoch_;
    task_id_ = task_id;
    history_.clear();
    ended_ = broken_ = false;
    return shown_ = world_.Told(ToyEnvironment::FirstObservation(task_id), call);
  }

  Result<StepResult> Step(std::string_view action) override {
    const User user(*this);
    if (broken_ || ended_ || task_id_ < 0) ++world_.counts.misuses;
    const ToyEnvironment::Call call{Op::kStep, ++world_.counts.steps, task_id_, action};
    const auto fault = FaultOf(call);
    broken_ = fault.has_value();
    if (fault && !fault->takes_effect) return FailWith(*fault);
    StepResult result = ToyEnvironment::Outcome(task_id_, history_, action);
    result.observation = shown_ = world_.Told(std::move(result.observation), call);
    ended_ = result.done;
    Go(action);
    if (fault) return FailWith(*fault);
    return result;
  }

  Result<std::string> Observation() override {
    const User user(*this);
    ++world_.counts.observations;
    if (!world_.repeats_observation) return Session::Observation();
    if (epoch_ != world_.epoch_) return FailWith({ErrorKind::kSessionLost});
    if (!ended_) broken_ = false;  // the caller may know the state now
    return shown_;
  }

  Result<std::vector<Fork>> Expand(const std::vector<std::string>& actions) override {
    const User user(*this);
    if (!*alive_ || ended_ || task_id_ < 0 || !world_.CanExpand()) ++world_.counts.misuses;
    const ToyEnvironment::Call call{Op::kExpand, ++world_.counts.expansions, task_id_,
                                    actions.front()};
    if (const auto fault = FaultOf(call)) return FailWith(*fault);
    std::vector<Fork> forks;
    for (const std::string& action : actions) {
      StepResult result = ToyEnvironment::Outcome(task_id_, history_, action);
      result.observation = world_.Told(std::move(result.observation), call);
      auto session = std::make_unique<ToySession>(*this, action, result.done);
      forks.push_back({std::move(session), std::move(result)});
    }
    return forks;
  }

  // Names the state, so that a test sees for which one it was asked.
  Result<std::vector<std::string>> Query(std::string_view /*extension*/) override {
    const User user(*this);
    if (epoch_ != world_.epoch_) return FailWith({ErrorKind::kSessionLost});
    return std::vector<std::string>{"go" + history_};
  }

 private:
  // One call under way; counts a second one at the same time as misuse.
  class User {
   public:
    explicit User(ToySession& session) : busy_(session.busy_) {
      if (busy_.exchange(true)) ++session.world_.counts.misuses;
    }
    ~User() { busy_ = false; }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    std::atomic<bool>& busy_;
  };

  void Go(std::string_view action) {
    if (ToyEnvironment::Changes(action)) history_ += fmt::format(" {}", action);
  }

  std::optional<Fault> FaultOf(const ToyEnvironment::Call& call) const {
    if (epoch_ != world_.epoch_) return Fault{ErrorKind::kSessionLost};
    return world_.FaultOf(call);
  }

  static tl::unexpected<Error> FailWith(const Fault& fault) {
    return Fail(fault.kind, fmt::format("toy fault: {}", Name(fault.kind)));
  }

  ToyEnvironment& world_;
  int epoch_;
  const std::shared_ptr<std::atomic<bool>> alive_;  // of the root
  const bool root_;
  int task_id_ = -1;
  std::string history_;
  std::string shown_;  // the last observation
  bool ended_ = false;
  bool broken_ = false;  // a step failed and no Reset came since
  std::atomic<bool> busy_ = false;
};

Result<std::unique_ptr<Session>> ToyEnvironment::Open() {
  if (const auto failed = FaultOf({Op::kOpen, ++counts.opens, -1, ""})) {
    return Fail(failed->kind, "toy fault: cannot open");
  }
  return std::make_unique<ToySession>(*this);
}

std::string ToyEnvironment::Told(std::string observation, const Call& call) const {
  return garble ? garble(std::move(observation), call) : observation;
}

bool ToyEnvironment::Changes(std::string_view action) {
  return !action.starts_with("look") && !action.starts_with("stuck");
}

StepResult ToyEnvironment::Outcome(int task_id, const std::string& history,
                                   std::string_view action) {
  StepResult result;
  if (!Changes(action)) {
    result.observation = fmt::format("{} by {} in {}:{}", kNothing, action, task_id, history);
    return result;
  }
  result.observation = fmt::format("task {}:{} {}", task_id, history, action);
  result.done = action.starts_with("end ");
  if (result.done) result.reward = NumberAfter("end ", action);
  if (action.starts_with("gain ")) result.reward = NumberAfter("gain ", action);
  return result;
}

std::string ToyEnvironment::FirstObservation(int task_id) {
  return fmt::format("Goal {}.", task_id);
}

std::vector<Message> ToyFamily::Instruction() const {
  return {{"user", "You are in a toy world."}, {"assistant", "Ok."}};
}

std::string ToyFamily::ParseAction(std::string_view response) const {
  return TextOfAction(response);
}

bool ToyFamily::LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                                     std::string_view after) const {
  return after.starts_with(kNothing);
}

bool ToyFamily::IsRefusal(std::string_view /*before*/, std::string_view action,
                          std::string_view after) const {
  return action.starts_with("stuck") && after.starts_with(kNothing);
}

std::vector<bool> ToyFamily::LikelyUnchanged(std::span<const Message> /*history*/,
                                             std::span<const std::string> actions) const {
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(action.starts_with("look"));
  return likely;
}

std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> FailCalls(
    ErrorKind kind, std::function<bool(const ToyEnvironment::Call&)> fails) {
  return [=](const ToyEnvironment::Call& call) {
    return fails(call) ? std::optional(ToyEnvironment::Fault{kind}) : std::nullopt;
  };
}

std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> FailSteps(
    std::set<int> tasks) {
  return FailCalls(ErrorKind::kEnvironment, [=](const ToyEnvironment::Call& call) {
    return call.op == ToyEnvironment::Op::kStep && tasks.contains(call.task_id);
  });
}

std::function<std::optional<ToyEnvironment::Fault>(const ToyEnvironment::Call&)> RandomFaults(
    ToyEnvironment::Op op, double rate, uint64_t seed) {
  return [=](const ToyEnvironment::Call& call) -> std::optional<ToyEnvironment::Fault> {
    RandomStream random = RandomStream(seed).Split(static_cast<uint64_t>(call.number));
    if (call.op != op || !random.Chance(rate)) return std::nullopt;
    return ToyEnvironment::Fault{
        op == ToyEnvironment::Op::kStep ? ErrorKind::kSessionLost : ErrorKind::kTimeout,
        random.Chance(0.5)};
  };
}

}  // namespace agentr
