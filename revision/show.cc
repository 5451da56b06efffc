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

}  // namespace

std::string ShowTrajectory(const Trajectory& trajectory, const std::string& title, bool color,
                           int width) {
  const std::string first = EscapeControls(OneLine(trajectory.first_observation));
  std::string out = title + "\n" + FitColumns("  " + first, width) + "\n";
  if (trajectory.dropped_turns > 0) {
    out += fmt::format("  … {} turns left out\n", trajectory.dropped_turns);
  }
  for (size_t i = trajectory.dropped_turns; i < trajectory.turns.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const auto [mark, code] = LookOf(turn.part);
    std::string text;
    for (const std::string& said : {OneLine(turn.response), "  -> " + OneLine(turn.observation)}) {
      text += FitColumns(fmt::format("{} {}", mark, EscapeControls(said)), width) + "\n";
    }
    out += color && code != 0 ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  return out;
}

}  // namespace agentr
