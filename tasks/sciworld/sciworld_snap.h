// Snapping: the nearest action that the game would understand, in place of what a model said.
// Agent-R (arXiv 2501.11425) plays SciWorld so.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// What of `valid` (the simulator's combinations of actions and objects) an agent may take:
//   - and "open door to ROOM" for every room;
//   - but no focus on the agent, on air, on a room, or on what neither `look` (the reply of "look
//     around") nor `inventory` names;
//   - of the actions on doors only those that open one;
//   - none of `last_three`, the actions before.
std::vector<std::string> SnapCandidates(std::span<const std::string> valid, std::string_view look,
                                        std::string_view inventory,
                                        std::span<const std::string> last_three);

// `said` if it is a candidate as it stands (upper case does not count), else the candidate that has
// the most of its words, the shortest of those, the first of those. A number, which answers an
// ambiguous request, and what has no candidates at all stay as they are.
std::string SnapAction(std::string_view said, std::span<const std::string> valid,
                       std::string_view look, std::string_view inventory,
                       std::span<const std::string> last_three);

}  // namespace agentr
