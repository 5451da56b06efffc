#include "tasks/prompt_file.h"

#include <span>
#include <string>

#include "common/error.h"
#include "common/named_values.h"
#include "common/text.h"

namespace agentr {
namespace embedded {
extern const std::span<const NamedValue<std::string_view>> kPrompts;
}

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
  return ParsePromptFile(ValueOf(embedded::kPrompts, family).value());
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
