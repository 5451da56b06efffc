#include "revision/make/replay.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "common/text.h"
#include "revision/find/choice.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

// Whether `number` is in `text` and is no part of another number or of a word.
bool ContainsNumber(std::string_view text, std::string_view number) {
  const auto joins = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find(number); at != std::string_view::npos;
       at = text.find(number, at + 1)) {
    const size_t end = at + number.size();
    const bool begins = at == 0 || !joins(text[at - 1]);
    if (begins && (end == text.size() || !joins(text[end]))) return true;
  }
  return false;
}

// True for the row's revision turn and for those of the search: the environment's reply to them is
// not what the agent was told.
bool IsRevision(const SplicedTurn& turn, const TaskFamily* family) {
  return turn.part == Part::kRevision ||
         (family != nullptr && family->IsRevision(turn.action, turn.observation));
}

}  // namespace

bool IsAsExpected(const Trajectory& trajectory, size_t i, const std::string& observation,
                  const TaskFamily* family) {
  const std::string& expected = trajectory.turns[i].observation;
  if (observation == expected) return true;
  if (family == nullptr) return false;
  const RevisionHints::Readings ours = family->hints().WithoutReadings(observation);
  const RevisionHints::Readings theirs = family->hints().WithoutReadings(expected);
  if (ours.values.empty() || ours.text != theirs.text) return false;
  return std::ranges::none_of(theirs.values, [&](const std::string& value) {
    return std::any_of(
        trajectory.turns.begin() + static_cast<std::ptrdiff_t>(i) + 1, trajectory.turns.end(),
        [&](const SplicedTurn& later) { return ContainsNumber(later.response, value); });
  });
}

Replay JudgeReplay(const Trajectory& trajectory, const ReplayedEpisode& episode, double alpha,
                   const TaskFamily* family) {
  Replay replay;
  replay.turns = episode.size();
  replay.reward = episode.empty() ? 0 : std::max(episode.back().result.reward, 0.0);
  for (size_t i = 0; i < episode.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const bool reply_is_given = !turn.observation.empty();
    if (IsRevision(turn, family) && episode[i].unchanged && reply_is_given) continue;
    std::string observation = OneLine(episode[i].result.observation);
    if (observation != turn.observation) replay.observations[i] = std::move(observation);
  }
  const bool revised =
      std::ranges::count(trajectory.turns, Part::kRevision, &SplicedTurn::part) > 0;
  const Part last = episode.empty() ? Part::kBad : trajectory.turns[episode.size() - 1].part;
  replay.ended_bad = revised && last != Part::kGood && last != Part::kRecovery;
  // It is expected that the environment accepts the revision action and answers something else than
  // the configured reply.
  const bool as_expected = std::ranges::all_of(replay.observations, [&](const auto& changed) {
    const auto& [i, observation] = changed;
    return trajectory.turns[i].part == Part::kRevision ||
           IsAsExpected(trajectory, i, observation, family);
  });
  bool lost_turn = false;  // a trained turn that was refused
  for (size_t i = 0; i < episode.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const bool trained = turn.part == Part::kGood || turn.part == Part::kRecovery;
    lost_turn =
        lost_turn || (trained && episode[i].refused && !turn.refused && !IsRevision(turn, family));
  }
  if (replay.ended_bad || lost_turn || episode.empty() || !AtLeast(replay.reward, alpha)) {
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

std::vector<std::string> ActionsOf(const Trajectory& trajectory) {
  std::vector<std::string> actions;
  for (const SplicedTurn& turn : trajectory.turns) actions.push_back(turn.action);
  return actions;
}

}  // namespace agentr
