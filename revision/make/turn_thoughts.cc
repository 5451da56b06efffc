#include "revision/make/turn_thoughts.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "rows/audit.h"
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

}  // namespace agentr
