#include "tasks/task_family.h"

#include "common/text.h"
#include "tasks/prompt_file.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsAsciiDigit(text[at])) ++at;
  return at;
}

// The position after a marker "Action:" or "Action 1:" at `at`; npos if there is none.
size_t EndOfMarker(std::string_view text, size_t at) {
  at = text.find_first_not_of(' ', at + std::string_view("Action").size());
  if (at == std::string_view::npos) return at;
  at = SkipDigits(text, at);
  return at < text.size() && text[at] == ':' ? at + 1 : std::string_view::npos;
}

// The text after the last marker, else the last line that is not blank.
std::string_view ActionPart(std::string_view response) {
  size_t at = response.rfind("Action");
  while (at != std::string_view::npos) {
    const size_t begin = EndOfMarker(response, at);
    if (begin != std::string_view::npos) return response.substr(begin);
    at = at == 0 ? std::string_view::npos : response.rfind("Action", at - 1);
  }
  response = Trim(response);
  return response.substr(response.rfind('\n') + 1);  // npos + 1 is 0: the only line
}

}  // namespace

std::vector<Message> TaskFamily::Instruction() const { return InstructionOf(name()); }

std::string TaskFamily::ParseAction(std::string_view response) const {
  const std::string text = TextOfAction(response);
  return std::string(Trim(std::string_view(text).substr(0, text.find('\n'))));
}

const RevisionHints& TaskFamily::hints() const {
  static const RevisionHints none;
  return none;
}

std::string TextOfAction(std::string_view response) {
  std::string_view text = Trim(ActionPart(response));
  const size_t digits = SkipDigits(text, 0);
  if (digits > 0 && text.substr(digits, 2) == ". ") text = Trim(text.substr(digits + 2));
  return std::string(text);
}

}  // namespace agentr
