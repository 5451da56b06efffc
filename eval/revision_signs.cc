#include "eval/revision_signs.h"

#include <algorithm>

#include "common/config_lines.h"
#include "common/error.h"
#include "tasks/action_text.h"

namespace agentr {

bool RevisionSigns::Revises(const EpisodeTurn& turn) const {
  if (turn.action == action) return true;
  if (thoughts.empty()) return false;
  const bool shown_done = turn.slip && !turn.slip->response.empty();
  const std::string_view thought = ThoughtOf(shown_done ? turn.slip->response : turn.response);
  return std::ranges::any_of(thoughts, [&](const std::string& text) {
    return BeginsWithTemplate(thought, text) || BeginsWithTemplate(turn.reasoning, text);
  });
}

std::vector<std::string> ParseRevisionThoughts(std::string_view text, const std::string& name) {
  std::vector<std::string> thoughts;
  bool recovers = false;
  ConfigLines lines(text, name);
  while (lines.Next()) {
    if (const auto heading = lines.Heading()) {
      recovers = heading->starts_with("recover");
    } else if (!recovers) {
      thoughts.emplace_back(lines.line());
    }
  }
  if (thoughts.empty()) {
    throw FatalError(ExitCode::kUsage,
                     name + " has no revision thought: write at least one, each on its own line");
  }
  return thoughts;
}

bool BeginsWithTemplate(std::string_view thought, std::string_view text) {
  // Each "{…}" stands for the text up to the first place where the words behind it follow.
  for (bool anywhere = false;; anywhere = true) {
    const size_t open = text.find('{');
    const size_t at = thought.find(text.substr(0, open));
    if (at == std::string_view::npos || (!anywhere && at > 0)) return false;
    if (open == std::string_view::npos) return true;
    thought.remove_prefix(at + open);
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) return true;
    text.remove_prefix(close + 1);
  }
}

}  // namespace agentr
