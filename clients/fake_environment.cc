#include "clients/fake_environment.h"

#include <utility>

namespace agentr {

class FakeEnvironment::FakeSession : public Session {
 public:
  explicit FakeSession(FakeEnvironment& env) : env_(env) { ++env_.live_; }
  ~FakeSession() override { --env_.live_; }

  Result<std::string> Reset(int task_id) override {
    if (auto error = env_.Enter("reset")) return tl::make_unexpected(*error);
    task_id_ = task_id;
    actions_.clear();
    return env_.world_(task_id_, actions_).observation;
  }

  Result<StepResult> Step(std::string_view action) override {
    int64_t number = 0;
    const auto error = env_.Enter("step", &number);
    if (!error || number % 2 == 1) actions_.emplace_back(action);
    if (error) return tl::make_unexpected(*error);
    return env_.world_(task_id_, actions_);
  }

  Result<std::vector<Fork>> Expand(const std::vector<std::string>& actions) override {
    if (auto error = env_.Enter("expand")) return tl::make_unexpected(*error);
    std::vector<Fork> forks;
    for (const std::string& action : actions) {
      auto session = std::make_unique<FakeSession>(env_);
      session->task_id_ = task_id_;
      session->actions_ = actions_;
      session->actions_.push_back(action);
      StepResult step = env_.world_(task_id_, session->actions_);
      forks.push_back({std::move(session), std::move(step)});
    }
    return forks;
  }

 private:
  FakeEnvironment& env_;
  int task_id_ = 0;
  std::vector<std::string> actions_;
};

FakeEnvironment::FakeEnvironment(bool can_expand, World world, Faults faults)
    : can_expand_(can_expand), world_(std::move(world)), faults_(std::move(faults)) {}

Result<std::unique_ptr<Session>> FakeEnvironment::Open() {
  if (auto error = Enter("open")) return tl::make_unexpected(*error);
  return std::make_unique<FakeSession>(*this);
}

std::optional<Error> FakeEnvironment::Enter(const std::string& call, int64_t* number) {
  std::lock_guard lock(mutex_);
  const int64_t mine = calls_[call]++;
  if (number != nullptr) *number = mine;
  return faults_(call, mine);
}

int64_t FakeEnvironment::calls(const std::string& call) const {
  std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

StepResult FakeEnvironment::TellActions(int task_id, const std::vector<std::string>& actions) {
  std::string text = "task " + std::to_string(task_id) + ":";
  for (size_t i = 0; i < actions.size(); ++i) text += (i == 0 ? " " : " | ") + actions[i];
  return {text, 0, false};
}

std::optional<Error> FakeEnvironment::NoFaults(const std::string&, int64_t) { return std::nullopt; }

}  // namespace agentr
