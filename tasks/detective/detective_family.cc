#include "tasks/detective/detective_family.h"

#include <algorithm>

#include "games/detective/detective_texts.h"
#include "tasks/detective/detective_map.h"

namespace agentr {
bool DetectiveFamily::LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                                           std::string_view after) const {
  const auto view = ReadDetectiveView(after);
  return view && (view->answer == kNothingHappens || view->answer == kNothingNew);
}

bool DetectiveFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                                std::string_view after) const {
  const auto view = ReadDetectiveView(after);
  return view && view->answer == kNothingHappens;
}

std::vector<bool> DetectiveFamily::LikelyUnchanged(std::span<const Message> history,
                                                   std::span<const std::string> actions) const {
  const auto view = history.empty() ? std::nullopt : ReadDetectiveView(history.back().content);
  std::vector<bool> likely;
  for (const std::string& action : actions) {
    likely.push_back(view && std::ranges::find(view->actions, action) == view->actions.end());
  }
  return likely;
}

std::vector<std::string> DetectiveFamily::Recoveries(
    std::span<const Message> history, std::span<const std::string> /*wanted*/) const {
  const auto map = ReadDetective(history);
  if (!map) return {};
  const DetectiveMap::Room& room = map->rooms.at(map->here);
  std::vector<std::string> actions;
  for (const std::string_view action : map->view().actions) {
    const bool dangerous =
        std::ranges::find(map->view().dangerous, action) != map->view().dangerous.end();
    if (dangerous) continue;
    // Where it has been before comes first.
    const auto at = room.behind.contains(action) ? actions.begin() : actions.end();
    actions.emplace(at, action);
  }
  return actions;
}

}  // namespace agentr
