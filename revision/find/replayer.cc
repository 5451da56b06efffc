#include "revision/find/replayer.h"

#include "common/text.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

// The family, but every action leads to a state of its own.
class WordForWord : public TaskFamily {
 public:
  explicit WordForWord(const TaskFamily& family) : family_(family) {}
  std::string_view name() const override { return family_.name(); }
  bool LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                            std::string_view /*after*/) const override {
    return false;
  }
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override {
    return family_.IsRefusal(before, action, after);
  }
  const RevisionHints& hints() const override { return family_.hints(); }
  std::vector<bool> LikelyUnchanged(std::span<const Message> /*history*/,
                                    std::span<const std::string> actions) const override {
    return std::vector<bool>(actions.size(), false);
  }

 private:
  const TaskFamily& family_;
};

std::unique_ptr<TaskFamily> WordForWordIfOfAFile(const TaskFamily& family) {
  const TaskKind* const kind = FindTaskKind(family.name());
  if (kind == nullptr || kind->file.empty()) return nullptr;
  return std::make_unique<WordForWord>(family);
}

}  // namespace

Replayer::Replayer(int task_id, const TaskFamily& family, Environment& environment,
                   SessionPool& pool, const std::atomic<bool>& stop)
    : family_(family),
      word_for_word_(WordForWordIfOfAFile(family)),
      executor_(MakeExecutor(task_id, environment, pool,
                             word_for_word_ == nullptr ? family : *word_for_word_, stop)) {}

Result<std::string> Replayer::Start() { return executor_->Start(); }

int Replayer::Entered(int state) const {
  const auto before = entered_.find(state);
  return before == entered_.end() ? state : before->second;
}

Result<ReplayedEpisode> Replayer::Run(int state, std::span<const std::string> actions) {
  ReplayedEpisode episode;
  if (state == StateTree::kRoot) ++episodes_;
  for (size_t i = 0; i < actions.size(); ++i) {
    const std::string& action = actions[i];
    AGENTR_RETURN_IF_ERROR(executor_->Execute(state, {action}, i + 1 == actions.size()));
    const StateTree::Transition taken = *executor_->states().Find(state, action);
    const bool over = taken.result.done || taken.result.reward < 0;
    const std::string before = Seen(state);
    const std::string after = OneLine(taken.result.observation);
    const bool refused = !over && family_.IsRefusal(before, action, after);
    const bool unchanged =
        taken.state == state || (!over && family_.LeavesStateUnchanged(before, action, after));
    if (unchanged && taken.state != state) entered_[taken.state] = Entered(state);
    episode.push_back({taken.result, unchanged, refused, taken.state});
    ++turns_;
    if (over) break;
    state = taken.state;
  }
  return episode;
}

}  // namespace agentr
