#include "revision/replay.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/text.h"
#include "revision/choice.h"

namespace agentr {
namespace {

constexpr std::array<std::pair<ReplayOutcome, std::string_view>, 4> kNames = {
    {{ReplayOutcome::kUnchecked, "unchecked"},
     {ReplayOutcome::kVerified, "verified"},
     {ReplayOutcome::kDiverged, "diverged"},
     {ReplayOutcome::kFailed, "failed"}}};

// Walks all trajectories at once, as a tree of actions.
class Walk {
 public:
  Walk(const std::vector<Trajectory>& trajectories, Executor& executor)
      : trajectories_(trajectories), executor_(executor), episodes_(trajectories.size()) {}

  // `who` have the first `turn` turns in common, which lead to `state`.
  Result<void> From(int state, size_t turn, const std::vector<size_t>& who) {
    std::vector<std::string> actions;
    std::vector<std::vector<size_t>> takers;  // of each action
    bool last_turn = true;
    for (const size_t i : who) {
      const std::vector<SplicedTurn>& turns = trajectories_[i].turns;
      if (turn >= turns.size()) continue;
      last_turn = last_turn && turn + 1 == turns.size();
      const auto at = std::ranges::find(actions, turns[turn].action) - actions.begin();
      if (static_cast<size_t>(at) == actions.size()) {
        actions.push_back(turns[turn].action);
        takers.emplace_back();
      }
      takers[static_cast<size_t>(at)].push_back(i);
    }
    if (actions.empty()) return {};
    if (auto executed = executor_.Execute(state, actions, last_turn); !executed) return executed;
    for (size_t a = 0; a < actions.size(); ++a) {
      const StateTree::Transition taken = *executor_.states().Find(state, actions[a]);
      for (const size_t i : takers[a]) {
        episodes_[i].push_back({taken.result, taken.state == state});
      }
      if (taken.result.done || taken.result.reward < 0) continue;
      if (auto walked = From(taken.state, turn + 1, takers[a]); !walked) return walked;
    }
    return {};
  }

  std::vector<ReplayedEpisode> Episodes() && { return std::move(episodes_); }

 private:
  const std::vector<Trajectory>& trajectories_;
  Executor& executor_;
  std::vector<ReplayedEpisode> episodes_;
};

}  // namespace

std::string_view Name(ReplayOutcome outcome) {
  return std::ranges::find(kNames, outcome, &decltype(kNames)::value_type::first)->second;
}

ReplayOutcome ParseReplayOutcome(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  if (found == kNames.end()) throw std::invalid_argument("no replay outcome: " + std::string(name));
  return found->first;
}

Replay JudgeReplay(const Trajectory& trajectory, const ReplayedEpisode& episode, double alpha) {
  Replay replay;
  replay.turns = episode.size();
  replay.reward = episode.empty() ? 0 : std::max(episode.back().result.reward, 0.0);
  for (size_t i = 0; i < episode.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    if (turn.part == Part::kRevision && episode[i].unchanged) continue;
    std::string observation = OneLine(episode[i].result.observation);
    if (observation != turn.observation) replay.observations[i] = std::move(observation);
  }
  const bool revised =
      std::ranges::count(trajectory.turns, Part::kRevision, &SplicedTurn::part) > 0;
  const Part last = episode.empty() ? Part::kBad : trajectory.turns[episode.size() - 1].part;
  replay.ended_bad = revised && last != Part::kGood;
  // That the environment takes the revision action and says more than the configured reply is no
  // surprise.
  const bool as_expected = std::ranges::all_of(replay.observations, [&](const auto& changed) {
    return trajectory.turns[changed.first].part == Part::kRevision;
  });
  if (replay.ended_bad || episode.empty() || !AtLeast(replay.reward, alpha)) {
    replay.outcome = ReplayOutcome::kFailed;
  } else if (as_expected && episode.size() == trajectory.turns.size()) {
    replay.outcome = ReplayOutcome::kVerified;
  } else {
    replay.outcome = ReplayOutcome::kDiverged;
  }
  return replay;
}

void ApplyReplay(const Replay& replay, Trajectory& trajectory) {
  if (replay.outcome == ReplayOutcome::kUnchecked) return;
  trajectory.turns.resize(std::min(replay.turns, trajectory.turns.size()));
  for (const auto& [turn, observation] : replay.observations) {
    if (turn < trajectory.turns.size()) trajectory.turns[turn].observation = observation;
  }
}

Result<TaskEpisodes> RunEpisodes(int task, const std::vector<Trajectory>& trajectories,
                                 const TaskFamily& family, Environment& environment,
                                 SessionPool& pool, const std::atomic<bool>& stop) {
  if (trajectories.empty()) return TaskEpisodes{};
  const std::unique_ptr<Executor> executor = MakeExecutor(task, environment, pool, family, stop);
  const Result<std::string> start = executor->Start();
  if (!start) return tl::make_unexpected(start.error());
  TaskEpisodes result;
  result.same_start = OneLine(*start) == OneLine(trajectories.front().first_observation);
  if (!result.same_start) return result;
  Walk walk(trajectories, *executor);
  std::vector<size_t> all;
  for (size_t i = 0; i < trajectories.size(); ++i) all.push_back(i);
  if (auto walked = walk.From(StateTree::kRoot, 0, all); !walked) {
    return tl::make_unexpected(walked.error());
  }
  result.episodes = std::move(walk).Episodes();
  result.calls = executor->stats();
  return result;
}

}  // namespace agentr
