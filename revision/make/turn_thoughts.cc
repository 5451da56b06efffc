#include "revision/make/turn_thoughts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rows/audit.h"
#include "tasks/action_text.h"
#include "tasks/revision_hints.h"

namespace agentr {

bool MendThoughts(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                  RevisionCounts& counts) {
  if (mode == "keep") return true;
  std::vector<Message> history = {{"user", trajectory.first_observation}};
  for (SplicedTurn& turn : trajectory.turns) {
    if (turn.part != Part::kRevision && IsTrained(trajectory, turn)) {
      std::optional<WordedAction> worded =
          mode == "rewrite" ? family.hints().Reworded(history, turn.action) : std::nullopt;
      if (worded) {
        std::string response =
            fmt::format("Thought: {}\nAction: {}", worded->thought, worded->action);
        turn.action = std::move(worded->action);
        counts.rewritten_turns += response == turn.response ? 0 : 1;
        turn.response = std::move(response);
      } else if (!family.hints().ThoughtFits(history, ThoughtOf(turn.response), turn.action)) {
        ++counts.disagreeing_rows;
        return false;
      }
    }
    history.push_back({"assistant", turn.response});
    history.push_back({"user", turn.observation});
  }
  return true;
}

void ThinkBeforeInserted(const Thoughts& thinking, const std::string& mistake, RandomStream random,
                         Trajectory& trajectory) {
  std::vector<SplicedTurn>& turns = trajectory.turns;
  const auto of_tree = [](const SplicedTurn& turn) { return turn.node >= 0; };
  const bool apart = std::ranges::any_of(
      turns, [&](const SplicedTurn& turn) { return of_tree(turn) && !turn.reasoning.empty(); });
  std::optional<ThoughtMarks> marks;
  for (const SplicedTurn& turn : turns) {
    if (of_tree(turn) && !marks) marks = ThoughtMarksOf(turn.response);
  }
  if (!apart && !marks) return;
  for (size_t i = 1; i < turns.size(); ++i) {
    SplicedTurn& turn = turns[i];
    if (of_tree(turn)) continue;
    const bool recovers = turn.part == Part::kRecovery;
    const SplicedTurn& about = recovers ? turn : turns[i - 1];
    std::string thought = thinking.Pick({recovers ? "recover" : mistake},
                                        {about.action, about.observation, ""}, random);
    if (apart) {
      turn.reasoning = std::move(thought);
    } else {
      turn.response =
          fmt::format("{}\n{}\n{}\n\n{}", marks->open, thought, marks->close, turn.response);
    }
  }
}

}  // namespace agentr
