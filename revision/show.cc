#include "revision/show.h"

#include <fmt/core.h>

#include "common/text.h"

namespace agentr {
namespace {

struct Look {
  char mark;
  int color;  // terminal colour; 0: default
};

Look LookOf(Part part) {
  switch (part) {
    case Part::kBad:
      return {'-', 31};
    case Part::kRevision:
      return {'~', 33};
    case Part::kRecovery:
      return {'^', 36};
    case Part::kGood:
      return {'+', 32};
    case Part::kPrefix:
      break;
  }
  return {' ', 0};
}

// At most `columns` bytes; a longer text is cut between two characters and gets an ellipsis.
std::string Cut(std::string text, size_t columns) {
  if (text.size() <= columns) return text;
  size_t end = columns - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string ShowTrajectory(const Trajectory& trajectory, const std::string& title, bool color,
                           int width) {
  const auto columns = static_cast<size_t>(width);
  std::string out = title + "\n" +
                    Cut("  " + EscapeControls(OneLine(trajectory.first_observation)), columns) +
                    "\n";
  if (trajectory.dropped_turns > 0) {
    out += fmt::format("  … {} turns left out\n", trajectory.dropped_turns);
  }
  for (size_t i = trajectory.dropped_turns; i < trajectory.turns.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const auto [mark, code] = LookOf(turn.part);
    std::string text;
    for (const std::string& said : {OneLine(turn.response), "  -> " + OneLine(turn.observation)}) {
      text += Cut(fmt::format("{} {}", mark, EscapeControls(said)), columns) + "\n";
    }
    out += color && code != 0 ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  return out;
}

}  // namespace agentr
