// Snapping replaces a model's action with the most similar action that the game understands, as
// Agent-R (arXiv 2501.11425) does in SciWorld.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The candidates are the actions of `valid` (the simulator's combinations of actions and objects)
// with these changes:
//   - "open door to ROOM" is added for every room;
//   - no focus on the agent, on air, on a room, or on things that neither `look` (the reply to
//     "look around") nor `inventory` names;
//   - of the actions on doors, only those that open one;
//   - none of `last_three`, the preceding actions.
std::vector<std::string> SnapCandidates(std::span<const std::string> valid, std::string_view look,
                                        std::string_view inventory,
                                        std::span<const std::string> last_three);

// `said` if it is a candidate itself (ignoring case), else the candidate that shares the most words
// with it; among equals the shortest, then the first. A number, which answers an ambiguous request,
// stays as it is, as does any action if there are no candidates.
std::string SnapAction(std::string_view said, std::span<const std::string> valid,
                       std::string_view look, std::string_view inventory,
                       std::span<const std::string> last_three);

}  // namespace agentr
