// Detective as a kind of task: a house of rooms, clues to take, and a culprit to arrest.
#pragma once

#include "tasks/revision_hints.h"
#include "tasks/task_family.h"

namespace agentr {

class DetectiveFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "detective"; }
  const RevisionHints& hints() const override { return *this; }

  // Both are read from the answer to the action, the third part of the observation.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  // An action that the last observation does not list.
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // The limit of the game.
  int SearchDepth(int /*task*/) const override { return 50; }

  // The valid actions except dangerous doors. Doors to rooms that were seen before come first.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;
};

}  // namespace agentr
