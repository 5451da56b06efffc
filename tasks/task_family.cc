#include "tasks/task_family.h"

#include "common/text.h"
#include "tasks/action_text.h"
#include "tasks/prompt_file.h"
#include "tasks/revision_hints.h"

namespace agentr {

std::vector<Message> TaskFamily::Instruction() const { return InstructionOf(name()); }

std::string TaskFamily::ParseAction(std::string_view response) const {
  const std::string text = TextOfAction(response);
  return std::string(Trim(std::string_view(text).substr(0, text.find('\n'))));
}

const RevisionHints& TaskFamily::hints() const {
  static const RevisionHints none;
  return none;
}

}  // namespace agentr
