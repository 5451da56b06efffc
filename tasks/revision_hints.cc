#include "tasks/revision_hints.h"

#include "common/text.h"
#include "tasks/task_family.h"

namespace agentr {

std::string PlainText(const TaskFamily& family, const std::string& observation) {
  return family.hints().WithoutReadings(OneLine(observation)).text;
}

bool SameButForReadings(const TaskFamily& family, const std::string& one,
                        const std::string& other) {
  return one == other || PlainText(family, one) == PlainText(family, other);
}

std::string_view MistakeNameOf(const TaskFamily& family, std::span<const Message> history,
                               std::string_view action, std::string_view after) {
  const std::string_view name = family.hints().MistakeName(history, action, after);
  if (!name.empty()) return name;
  const std::string_view before = history.empty() ? "" : std::string_view(history.back().content);
  return family.IsRefusal(before, action, after) ? "refused" : "dead_end";
}

}  // namespace agentr
