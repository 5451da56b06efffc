#include "clients/textcraft_family.h"

#include "clients/prompt_file.h"

namespace agentr {
namespace embedded {
extern const std::string_view kTextCraftPrompt;
}  // namespace embedded

namespace {

// Of ASCII only, unlike std::isalnum, whatever the locale.
bool IsKept(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ',';
}

}  // namespace

std::string CleanTextCraftAction(std::string_view action) {
  std::string clean;
  clean.reserve(action.size());
  bool space = false;  // before the next character that is kept
  for (const char c : action) {
    if (c == ' ') space = !clean.empty();
    if (!IsKept(c)) continue;
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

bool TextCraftFamily::LeavesStateUnchanged(std::string_view /*action*/,
                                           std::string_view observation) const {
  return observation.starts_with("Could not") || observation.starts_with("Wrong item format") ||
         observation.starts_with("Inventory:");
}

bool TextCraftFamily::LikelyLeavesStateUnchanged(std::string_view action) const {
  // What is neither a craft nor a get is an inventory or nothing that the game knows.
  return !action.starts_with("craft ") && !action.starts_with("get ");
}

}  // namespace agentr
