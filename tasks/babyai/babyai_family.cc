#include "tasks/babyai/babyai_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.h"
#include "tasks/action_text.h"
#include "tasks/babyai/babyai_map.h"

namespace agentr {
namespace {

constexpr std::string_view kOffer = "Available actions: [";

// The beginnings of replies that say why nothing was done.
constexpr std::array<std::string_view, 4> kRefusals = {
    "The action is not recognized.",
    "No change in state.",
    "There is a barrier in front of you, you can't move forward.",
    "You cannot ",
};

// An observation, although it begins like a refusal.
constexpr std::string_view kEmptyView = "You cannot see ";

// The server answers any action with this word with the list of possible actions.
bool IsQuestion(std::string_view action) { return action.find("check") != std::string_view::npos; }

bool SaysWhyNot(std::string_view reply) {
  return !reply.starts_with(kEmptyView) &&
         std::ranges::any_of(kRefusals,
                             [&](std::string_view begin) { return reply.starts_with(begin); });
}

// What is seen and carried, without the goal before it and the offer behind it.
std::string ViewIn(std::string_view reply) {
  const size_t begin = std::min(reply.find("You "), reply.size());
  return OneLine(std::string(reply.substr(begin, reply.rfind(kOffer) - begin)));
}

// True if a move of BabyAI-Text, which does not say why it did nothing, shows the same as before. A
// turn may do so in a new state.
bool MovedNothing(std::string_view before, std::string_view action, std::string_view after) {
  static constexpr std::array<std::string_view, 4> kMoves = {"go forward", "pick up", "drop",
                                                             "toggle"};
  const std::vector<std::string_view> offered = BabyAiActions(after);
  const bool moves = std::ranges::find(kMoves, action) != kMoves.end() &&
                     std::ranges::find(offered, "go forward") != offered.end();
  return moves && !ViewIn(after).starts_with("You see nothing") && ViewIn(before) == ViewIn(after);
}

bool IsKeptInBabyAi(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ','; }

}  // namespace

std::vector<std::string_view> BabyAiActions(std::string_view reply) {
  std::vector<std::string_view> actions;
  size_t at = reply.rfind(kOffer);
  if (at == std::string_view::npos) return actions;
  reply.remove_prefix(at + kOffer.size());
  while ((at = reply.find('"')) != std::string_view::npos) {
    const size_t end = reply.find('"', at + 1);
    if (end == std::string_view::npos) break;
    actions.push_back(reply.substr(at + 1, end - at - 1));
    reply.remove_prefix(end + 1);
  }
  return actions;
}

std::string BabyAiFamily::ParseAction(std::string_view response) const {
  std::string action;
  for (const char said : TextOfAction(response)) {
    const char c = AsciiLower(said);
    if (c == '\n') break;
    if (IsKeptInBabyAi(c)) action += c;
    if ((c == ' ' || c == '\t') && !action.empty() && action.back() != ' ') action += ' ';
  }
  if (action.ends_with(' ')) action.pop_back();
  if (action.starts_with("pick up ")) action.erase(4, 1);
  return action;
}

bool BabyAiFamily::LeavesStateUnchanged(std::string_view before, std::string_view action,
                                        std::string_view after) const {
  const bool asked = IsQuestion(action) && after.starts_with("You can take the following actions:");
  return (asked || SaysWhyNot(after)) && BabyAiActions(before) == BabyAiActions(after);
}

bool BabyAiFamily::IsRefusal(std::string_view before, std::string_view action,
                             std::string_view after) const {
  return SaysWhyNot(after) || MovedNothing(before, action, after);
}

std::string BabyAiFamily::StateKey(std::span<const Message> history) const {
  const std::optional<BabyAiScene> scene = ReadBabyAi(history);
  if (!scene) return "";
  const BabyAiPose& pose = scene->map.pose();
  const std::string& seen = history.back().content;
  const bool first = history.back().content.starts_with("Your goal");
  return fmt::format("{},{},{} {}", pose.spot.x, pose.spot.y, pose.facing,
                     first ? seen.substr(seen.find("You ")) : seen);
}

std::vector<std::string> BabyAiFamily::Recoveries(std::span<const Message> history,
                                                  std::span<const std::string> /*wanted*/) const {
  if (!ReadBabyAi(history)) return {};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBack = {
      {{"turn left", "turn right"},
       {"turn right", "turn left"},
       {"pick up", "drop"},
       {"drop", "pick up"},
       {"go forward", "turn left"}}};
  // The last moves of the agent, the newest first; what brings them back is most promising.
  std::vector<std::string> recoveries;
  const auto add = [&](std::string_view action) {
    if (std::ranges::find(recoveries, action) == recoveries.end()) recoveries.emplace_back(action);
  };
  for (size_t i = history.size(); i-- > 0 && recoveries.empty();) {
    if (history[i].role != "assistant") continue;
    const std::string last = ParseAction(history[i].content);
    for (const auto& [action, back] : kBack) {
      if (action == last) add(back);
    }
  }
  // Opening a box destroys it, so "toggle" is no way back.
  for (const std::string_view action :
       {"turn left", "turn right", "go forward", "drop", "pick up"}) {
    add(action);
  }
  return recoveries;
}

std::vector<bool> BabyAiFamily::LikelyUnchanged(std::span<const Message> history,
                                                std::span<const std::string> actions) const {
  const std::vector<std::string_view> offered =
      history.empty() ? std::vector<std::string_view>() : BabyAiActions(history.back().content);
  std::vector<bool> likely;
  for (const std::string& action : actions) {
    const bool known = std::ranges::find(offered, action) != offered.end();
    likely.push_back(!offered.empty() && (!known || IsQuestion(action)));
  }
  return likely;
}

}  // namespace agentr
