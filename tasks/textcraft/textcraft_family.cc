#include "tasks/textcraft/textcraft_family.h"

#include "tasks/prompt_file.h"
#include "tasks/textcraft/textcraft_conversation.h"

namespace agentr {
namespace embedded {
extern const std::string_view kTextCraftPrompt;
}  // namespace embedded

namespace {

// Of ASCII only, unlike std::isalnum, whatever the locale.
bool IsKeptInTextCraft(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ',';
}

bool RefusesTextCraft(std::string_view reply) {
  return reply.starts_with("Could not") || reply.starts_with("Wrong item format");
}

}  // namespace

std::string CleanTextCraftAction(std::string_view action) {
  std::string clean;
  clean.reserve(action.size());
  bool space = false;  // before the next character that is kept
  for (const char c : action) {
    if (c == ' ') space = !clean.empty();
    if (!IsKeptInTextCraft(c)) continue;
    if (space) clean += ' ';
    space = false;
    clean += c;
  }
  return clean;
}

std::vector<Message> TextCraftFamily::Instruction() const {
  return ParsePromptFile(embedded::kTextCraftPrompt);
}

std::string TextCraftFamily::ParseAction(std::string_view response) const {
  return CleanTextCraftAction(TextOfAction(response));
}

bool TextCraftFamily::LeavesStateUnchanged(std::string_view /*before*/, std::string_view /*action*/,
                                           std::string_view after) const {
  return RefusesTextCraft(after) || after.starts_with("Inventory:");
}

bool TextCraftFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                                std::string_view after) const {
  return RefusesTextCraft(after);
}

std::vector<bool> TextCraftFamily::LikelyUnchanged(std::span<const Message> history,
                                                   std::span<const std::string> actions) const {
  const std::optional<TextCraftView> view = ReadTextCraft(history);
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(!view || LooksRefused(*view, action));
  return likely;
}

}  // namespace agentr
