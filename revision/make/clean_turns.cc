#include "revision/make/clean_turns.h"

#include <string>

#include "tasks/action_text.h"

namespace agentr {
namespace {

constexpr std::string_view kMarker = "Action:";

// The part of a response with its thought and its only action: all of it if nothing follows the
// action. Empty if it has several actions or none.
std::string_view OneAction(const std::string& response, const TaskFamily& family) {
  if (family.ParseAction(response).empty()) return {};
  // An action within a thought is none.
  const size_t said = WithoutThought(response).data() - response.data();
  const size_t marker = response.find(kMarker, said);
  if (marker == std::string::npos) return response;  // without a marker the last line is the action
  if (response.find(kMarker, marker + 1) != std::string::npos) return {};
  size_t begin = response.find_first_not_of(" \t\r\n", marker + kMarker.size());
  if (begin == std::string::npos) return {};
  const size_t end = response.find('\n', begin);
  return std::string_view(response).substr(0, end);
}

// `clean`: a beginning of `response`.
bool RestIsBlank(const std::string& response, std::string_view clean) {
  return response.find_first_not_of(" \t\r\n", clean.size()) == std::string::npos;
}

}  // namespace

bool SaysOneAction(const std::string& response, const TaskFamily& family) {
  const std::string_view clean = OneAction(response, family);
  return !clean.empty() && RestIsBlank(response, clean);
}

bool CleanTurns(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                RevisionCounts& counts) {
  if (mode == "keep") return true;
  for (SplicedTurn& turn : trajectory.turns) {
    if (turn.part == Part::kRevision || !IsTrained(trajectory, turn)) continue;
    if (SaysOneAction(turn.response, family)) continue;
    const std::string_view clean = OneAction(turn.response, family);
    if (clean.empty() || mode == "drop") {
      ++counts.unclean_rows;
      return false;
    }
    ++counts.cut_turns;
    turn.response = std::string(clean);
  }
  return true;
}

}  // namespace agentr
