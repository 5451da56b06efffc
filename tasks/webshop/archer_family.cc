#include "tasks/webshop/archer_family.h"

#include "games/webshop/archer_texts.h"
#include "tasks/webshop/archer_log.h"
#include "tasks/webshop/webshop_page.h"

namespace agentr {
namespace {

constexpr std::string_view kThink = "think[";

// Whether the shop will probably refuse `action` on this page (in the style of AgentGym).
bool IsLikelyInvalid(const WebShopPage& page, std::string_view text, std::string_view action) {
  if (action.starts_with(kThink)) return false;
  if (action.starts_with("search[")) return page.kind != WebShopPageKind::kStart;
  return action == "click[Next >]" || IsIdle(text, action) ||
         AsSpelledOnPage(text, action) != action;
}

}  // namespace

bool ArcherFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                             std::string_view after) const {
  return LastObservation(after) != archer::kThought && ReadArcherLog(after).wasted_turns > 0;
}

std::vector<bool> ArcherFamily::LikelyUnchanged(std::span<const Message> history,
                                                std::span<const std::string> actions) const {
  const std::vector<Message> turns = NewestArcherLog(history).turns;
  const std::string_view text = turns.empty() ? "" : std::string_view(turns.back().content);
  const WebShopPage page = ReadWebShopPage(text);
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(IsLikelyInvalid(page, text, action));
  return likely;
}

std::string ArcherFamily::StateKey(std::span<const Message> history) const {
  return WebShopFamily::StateKey(NewestArcherLog(history).turns);
}

RevisionHints::Readings ArcherFamily::WithoutReadings(std::string_view observation) const {
  const std::string_view last = LastObservation(observation);
  const auto before = static_cast<size_t>(last.data() - observation.data());
  return {std::string(last), {std::string(observation.substr(0, before))}};
}

std::string_view ArcherFamily::MistakeName(std::span<const Message> history,
                                           std::string_view action, std::string_view after) const {
  if (action.starts_with(kThink)) return "wandered";
  return WebShopFamily::MistakeName(NewestArcherLog(history).turns, action, after);
}

std::vector<std::string> ArcherFamily::Recoveries(std::span<const Message> history,
                                                  std::span<const std::string> wanted) const {
  const std::vector<Message> turns = NewestArcherLog(history).turns;
  std::vector<std::string> actions = WebShopFamily::Recoveries(turns, wanted);
  for (std::string& action : actions) action = AsSpelledOnPage(turns.back().content, action);
  return actions;
}

}  // namespace agentr
