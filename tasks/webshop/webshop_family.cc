#include "tasks/webshop/webshop_family.h"

#include <algorithm>

#include "tasks/prompt_file.h"
#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_page.h"

namespace agentr {
namespace embedded {
extern const std::string_view kWebShopPrompt;
}  // namespace embedded

std::vector<Message> WebShopFamily::Instruction() const {
  return ParsePromptFile(embedded::kWebShopPrompt);
}

std::string WebShopFamily::ParseAction(std::string_view response) const {
  std::string text = TextOfAction(response);
  text.erase(std::min(text.find('\n'), text.size()));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  if (ReadWebShopAction(text)) text.erase(text.rfind(']') + 1);
  return text;
}

bool WebShopFamily::LeavesStateUnchanged(std::string_view before, std::string_view action,
                                         std::string_view after) const {
  return before == after && IsIdle(before, action);
}

bool WebShopFamily::IsRefusal(std::string_view before, std::string_view action,
                              std::string_view after) const {
  return LeavesStateUnchanged(before, action, after);
}

std::vector<bool> WebShopFamily::LikelyUnchanged(std::span<const Message> history,
                                                 std::span<const std::string> actions) const {
  const std::string_view page = history.empty() ? "" : std::string_view(history.back().content);
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(IsIdle(page, action));
  return likely;
}

}  // namespace agentr
