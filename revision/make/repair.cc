#include "revision/make/repair.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <set>

#include "common/text.h"
#include "revision/find/choice.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

constexpr size_t kMostTriedStates = 250;  // states tried in one search for a recovery
constexpr size_t kMostTriedSteps = 2500;  // and steps taken for it
constexpr size_t kLongestTried = 60;      // longest path whose steps are tried one by one

size_t RevisionTurnOf(const Trajectory& trajectory) {
  const auto& turns = trajectory.turns;
  return static_cast<size_t>(std::ranges::find(turns, Part::kRevision, &SplicedTurn::part) -
                             turns.begin());
}

// The first observation and the turns before `end`, as a history for the family.
std::vector<Message> HistoryOf(const Trajectory& trajectory, size_t end) {
  std::vector<Message> history = {{"user", trajectory.first_observation}};
  for (size_t i = 0; i < end; ++i) {
    history.push_back({"assistant", "Action: " + trajectory.turns[i].action});
    history.push_back({"user", trajectory.turns[i].observation});
  }
  return history;
}

bool IsOver(const ReplayedTurn& turn) { return turn.result.done || turn.result.reward < 0; }

// One state of the search for a recovery.
struct Reached {
  int state = 0;
  std::vector<std::string> actions;
  std::vector<Message> history;
};

bool IsVerified(const Repaired& repaired) {
  return repaired.replay.outcome == ReplayOutcome::kVerified;
}

}  // namespace

Repairer::Repairer(const Tree& tree, const StateMap& states, const TaskFamily& family,
                   const Thoughts& thoughts, const RepairOptions& options, Replayer* replayer,
                   bool forks)
    : tree_(tree),
      states_(states),
      family_(family),
      thoughts_(thoughts),
      options_(options),
      replayer_(replayer),
      forks_(forks),
      pruner_(tree, states, family) {}

Result<Repaired> Repairer::Run(const RepairTask& task, RandomStream random) {
  const SplicePlan whole = PlanOf(tree_, states_, task.pair, task.bad_steps);
  const auto nodes = [](const SplicePlan& plan) { return plan.prefix.size() + plan.good.size(); };
  std::vector<Prune> modes = {options_.prune};
  if (options_.prune == Prune::kFull) modes.push_back(Prune::kEffect);
  if (replayer_ == nullptr) modes = {std::min(options_.prune, Prune::kEffect)};
  std::vector<Repaired> attempted;
  std::vector<Attempt> attempts;
  for (const Prune mode : modes) {
    SplicePlan plan = PlanFor(task, mode);
    if (mode == Prune::kFull && forks_ && !plan.good.empty()) {
      const int from = task.pair.bad.leaf < 0 ? 0 : task.pair.ancestor;
      AGENTR_ASSIGN_OR_RETURN(auto shorter, WithoutNeedless(from, plan.good));
      plan.good = std::move(shorter);
    }
    AGENTR_ASSIGN_OR_RETURN(Attempt attempt, Try(plan, task));
    const int pruned = static_cast<int>(nodes(whole) - nodes(plan));
    Repaired result{attempt.trajectory, attempt.replay, pruned, 0};
    if (replayer_ == nullptr || IsVerified(result)) return result;
    attempted.push_back(std::move(result));
    attempts.push_back(std::move(attempt));
  }
  // To prune less is tried before this, because it costs one replay and this a search.
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].prefix_differs) continue;
    AGENTR_ASSIGN_OR_RETURN(auto recovery, FindRecovery(attempts[i]));
    if (!recovery) continue;
    AGENTR_ASSIGN_OR_RETURN(Attempt recovered, WithRecovery(attempts[i], *recovery, random));
    attempted[i] = {std::move(recovered.trajectory), std::move(recovered.replay),
                    attempted[i].pruned, static_cast<int>(recovery->size())};
    if (IsVerified(attempted[i])) return std::move(attempted[i]);
  }
  return std::move(attempted.back());
}

SplicePlan Repairer::PlanFor(const RepairTask& task, Prune mode) {
  return pruner_.Shorten(PlanOf(tree_, states_, task.pair, task.bad_steps), mode,
                         options_.prefix_slips, task.pair.bad.leaf < 0 ? options_.good_slips : 0);
}

Result<Repairer::Attempt> Repairer::Try(const SplicePlan& plan, const RepairTask& task) {
  Trajectory trajectory =
      Splice(tree_, states_, plan, {task.thought, options_.action, options_.reply});
  trajectory.train_prefix = options_.train_prefix;
  if (replayer_ == nullptr) return Attempt{std::move(trajectory), {}, {}};
  AGENTR_ASSIGN_OR_RETURN(ReplayedEpisode episode,
                          replayer_->Run(StateTree::kRoot, ActionsOf(trajectory)));
  return Judged(std::move(trajectory), std::move(episode));
}

Repairer::Attempt Repairer::Judged(Trajectory trajectory, ReplayedEpisode episode) const {
  Attempt attempt{std::move(trajectory), std::move(episode), {}};
  attempt.replay = JudgeReplay(attempt.trajectory, attempt.episode, options_.alpha, &family_);
  const size_t revision = RevisionTurnOf(attempt.trajectory);
  const auto& changed = attempt.replay.observations;
  attempt.prefix_differs = !changed.empty() && changed.begin()->first < revision;
  return attempt;
}

Result<int> Repairer::ReplayState(int node) {
  std::vector<std::string> actions;
  for (const int on_path : tree_.Path(node)) {
    if (on_path != 0 && states_.Changed(on_path)) actions.push_back(tree_.node(on_path).action);
  }
  if (actions.empty()) return StateTree::kRoot;
  AGENTR_ASSIGN_OR_RETURN(ReplayedEpisode episode, replayer_->Run(StateTree::kRoot, actions));
  return episode.size() == actions.size() && !IsOver(episode.back()) ? episode.back().state : -1;
}

Result<std::vector<int>> Repairer::WithoutNeedless(int from, const std::vector<int>& nodes) {
  const std::pair key(states_.Of(from), nodes.back());
  const auto known = shortened_.find(key);
  if (known != shortened_.end()) return known->second;
  std::vector<int> kept = nodes;
  if (kept.size() <= kLongestTried) {
    AGENTR_ASSIGN_OR_RETURN(const int state, ReplayState(from));
    for (size_t i = kept.size(); state >= 0 && i-- > 0;) {
      // The last step ends the episode, and steps that only inform were kept because they did.
      if (i + 1 == kept.size() || !states_.Changed(kept[i])) continue;
      AGENTR_ASSIGN_OR_RETURN(const bool needless, Needless(state, kept, i));
      if (needless) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return shortened_.emplace(key, std::move(kept)).first->second;
}

Result<bool> Repairer::Needless(int state, const std::vector<int>& nodes, size_t leave_out) {
  double reward = 0;
  // Step by step, because most steps are needed and the next one shows it.
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i == leave_out) continue;
    const Node& node = tree_.node(nodes[i]);
    AGENTR_ASSIGN_OR_RETURN(const ReplayedEpisode step, replayer_->Run(state, {&node.action, 1}));
    const ReplayedTurn& turn = step.front();
    if (i > leave_out && OneLine(turn.result.observation) != OneLine(node.observation)) {
      return false;
    }
    if (IsOver(turn) && i + 1 != nodes.size()) return false;
    state = turn.state;
    reward = turn.result.reward;
  }
  return AtLeast(reward, tree_.node(nodes.back()).reward);
}

std::vector<std::string> Repairer::RecoveryCandidates(const Attempt& attempt, size_t good_begin,
                                                      const std::vector<Message>& history) const {
  const std::vector<SplicedTurn>& turns = attempt.trajectory.turns;
  std::vector<std::string> wanted;
  for (size_t i = good_begin; i < turns.size(); ++i) wanted.push_back(turns[i].action);
  std::vector<std::string> candidates = family_.hints().Recoveries(history, wanted);
  for (const SplicedTurn& turn : turns) {
    // Actions that led to the common state before may lead there again.
    if (turn.part == Part::kPrefix && !turn.refused) candidates.push_back(turn.action);
  }
  const int last_bad = turns[good_begin - 2].node;
  for (const int child : tree_.node(last_bad).children) {
    if (states_.Changed(child) && !states_.At(child).ended) {
      candidates.push_back(tree_.node(child).action);
    }
  }
  const std::vector<bool> idle = family_.LikelyUnchanged(history, candidates);
  std::vector<std::string> likely;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const bool new_one = std::ranges::find(likely, candidates[i]) == likely.end();
    if (!idle[i] && new_one) likely.push_back(std::move(candidates[i]));
  }
  return likely;
}

// Breadth first from the state after the revision turn: the first actions found are a shortest
// recovery among those tried, and no state (StateKey, or the last observation where the family has
// none) is entered twice. A state counts only if all of the good turns, taken from it, answer as
// the row says and end with a good reward. Example: the bad path walked from the kitchen into the
// garden, the good one opens the fridge; "go to kitchen" makes "open fridge" work again.
Result<std::optional<std::vector<std::string>>> Repairer::FindRecovery(const Attempt& attempt) {
  const size_t revision = RevisionTurnOf(attempt.trajectory);
  const bool searchable = forks_ && options_.max_recovery > 0 && revision > 0 &&
                          revision < attempt.episode.size() && !IsOver(attempt.episode[revision]);
  if (!searchable) return std::nullopt;
  Trajectory rest = attempt.trajectory;
  rest.turns.erase(rest.turns.begin(),
                   rest.turns.begin() + static_cast<std::ptrdiff_t>(revision) + 1);
  // Step by step, because most states fail at once and some environments are slow.
  size_t steps = 0;
  const auto works = [&](int state) -> Result<bool> {
    ReplayedEpisode episode;
    for (size_t i = 0; i < rest.turns.size(); ++i) {
      ++steps;
      AGENTR_ASSIGN_OR_RETURN(ReplayedEpisode step,
                              replayer_->Run(state, {&rest.turns[i].action, 1}));
      episode.push_back(std::move(step.front()));
      if (!IsAsExpected(rest, i, OneLine(episode.back().result.observation), &family_)) {
        return false;
      }
      if (IsOver(episode.back())) break;
      state = episode.back().state;
    }
    return JudgeReplay(rest, episode, options_.alpha, &family_).outcome == ReplayOutcome::kVerified;
  };
  std::vector<Message> history = HistoryOf(attempt.trajectory, revision);
  std::set<std::string> seen = {history.back().content};
  std::deque<Reached> open;
  open.push_back({attempt.episode[revision].state, {}, std::move(history)});
  size_t tried = 0;
  for (; !open.empty() && tried < kMostTriedStates && steps < kMostTriedSteps; open.pop_front()) {
    const Reached& at = open.front();
    for (const std::string& action : RecoveryCandidates(attempt, revision + 1, at.history)) {
      AGENTR_ASSIGN_OR_RETURN(const ReplayedEpisode step, replayer_->Run(at.state, {&action, 1}));
      const ReplayedTurn& turn = step.front();
      if (turn.refused || turn.unchanged || IsOver(turn)) continue;
      Reached next = at;
      next.state = turn.state;
      next.actions.push_back(action);
      next.history.push_back({"assistant", "Action: " + action});
      next.history.push_back({"user", OneLine(turn.result.observation)});
      std::string key = family_.hints().StateKey(next.history);
      if (key.empty()) key = next.history.back().content;
      if (!seen.insert(std::move(key)).second) continue;
      ++tried;
      AGENTR_ASSIGN_OR_RETURN(const bool found, works(next.state));
      if (found) return std::move(next.actions);
      if (static_cast<int>(next.actions.size()) < options_.max_recovery) open.push_back(next);
    }
  }
  return std::nullopt;
}

Result<Repairer::Attempt> Repairer::WithRecovery(const Attempt& attempt,
                                                 const std::vector<std::string>& actions,
                                                 RandomStream random) {
  Trajectory trajectory = attempt.trajectory;
  const size_t revision = RevisionTurnOf(trajectory);
  std::vector<SplicedTurn> recovery;
  const std::string next = trajectory.turns[revision + 1].action;
  const Thoughts& thoughts = thoughts_.Of("recover").empty() ? Thoughts::BuiltIn() : thoughts_;
  for (const std::string& action : actions) {
    const std::string thought =
        thoughts.Pick({"recover " + action, fmt::format("recover {}", VerbOf(action)), "recover"},
                      {action, "", next}, random);
    recovery.push_back(
        {Part::kRecovery, -1, fmt::format("Thought: {}\nAction: {}", thought, action), action, ""});
  }
  trajectory.turns.insert(trajectory.turns.begin() + static_cast<std::ptrdiff_t>(revision) + 1,
                          recovery.begin(), recovery.end());
  AGENTR_ASSIGN_OR_RETURN(ReplayedEpisode episode,
                          replayer_->Run(StateTree::kRoot, ActionsOf(trajectory)));
  for (size_t i = 0; i < episode.size(); ++i) {
    SplicedTurn& turn = trajectory.turns[i];
    if (turn.part == Part::kRecovery) turn.observation = OneLine(episode[i].result.observation);
  }
  return Judged(std::move(trajectory), std::move(episode));
}

}  // namespace agentr
