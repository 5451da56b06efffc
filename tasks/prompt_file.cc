#include "tasks/prompt_file.h"

#include <map>
#include <string>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace embedded {
extern const std::string_view kBabyAiPrompt;
extern const std::string_view kDetectivePrompt;
extern const std::string_view kGuessMyCityPrompt;
extern const std::string_view kSciWorldPrompt;
extern const std::string_view kTextCraftPrompt;
extern const std::string_view kTwentyQuestionsPrompt;
extern const std::string_view kWebShopArcherPrompt;
extern const std::string_view kWebShopPrompt;
}  // namespace embedded

namespace {

// The role that a heading such as "[user]" names; empty for any other line.
std::string_view RoleOfHeading(std::string_view line) {
  for (const std::string_view role : {"system", "user", "assistant"}) {
    if (line.size() == role.size() + 2 && line.front() == '[' && line.back() == ']' &&
        line.substr(1, role.size()) == role) {
      return role;
    }
  }
  return {};
}

}  // namespace

std::vector<Message> InstructionOf(std::string_view family) {
  static const std::map<std::string_view, std::string_view> prompts = {
      {"babyai", embedded::kBabyAiPrompt},
      {"detective", embedded::kDetectivePrompt},
      {"guess_my_city", embedded::kGuessMyCityPrompt},
      {"sciworld", embedded::kSciWorldPrompt},
      {"textcraft", embedded::kTextCraftPrompt},
      {"twenty_questions", embedded::kTwentyQuestionsPrompt},
      {"webshop", embedded::kWebShopPrompt},
      {"webshop_archer", embedded::kWebShopArcherPrompt}};
  return ParsePromptFile(prompts.at(family));
}

std::vector<Message> ParsePromptFile(std::string_view text) {
  std::vector<Message> messages;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const std::string_view role = RoleOfHeading(line); !role.empty()) {
      messages.push_back({std::string(role), ""});
    } else if (!messages.empty()) {
      messages.back().content.append(line).push_back('\n');
    }
  }
  if (messages.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "a prompt file has no message: open one with a line \"[user]\"");
  }
  for (Message& message : messages) message.content = Trim(message.content, "\n");
  return messages;
}

}  // namespace agentr
