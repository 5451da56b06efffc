#include "revision/make/clean_turns.h"

#include <string>

#include "tasks/action_text.h"

namespace agentr {
namespace {

// The part of a response with its thought and its only action: all of it if nothing follows the
// action. Empty if it has several actions or none.
std::string_view OneAction(const std::string& response, const TaskFamily& family) {
  if (family.ParseAction(response).empty()) return {};
  // An action within a thought is none.
  const size_t said = WithoutThought(response).data() - response.data();
  const std::vector<size_t> actions = BehindActionMarkers(std::string_view(response).substr(said));
  if (actions.empty()) return response;  // without a marker the last line is the action
  if (actions.size() > 1) return {};
  size_t begin = response.find_first_not_of(" \t\r\n", said + actions[0]);
  if (begin == std::string::npos) return {};
  size_t end = response.find('\n', begin);
  // A fence or a call of a tool goes on until it holds the action, and its last line belongs to it.
  if (response[begin] == '`' || response[begin] == '<' || response[begin] == '{') {
    const std::string action = family.ParseAction(response);
    const auto line = [&](size_t from) {
      return std::string_view(response).substr(from, response.find('\n', from) - from);
    };
    while (end != std::string::npos && family.ParseAction(response.substr(0, end)) != action) {
      end = response.find('\n', end + 1);
    }
    while (end != std::string::npos &&
           (line(end + 1).starts_with("```") || line(end + 1).starts_with("</"))) {
      end = response.find('\n', end + 1);
    }
  }
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
