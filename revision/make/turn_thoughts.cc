#include "revision/make/turn_thoughts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tasks/action_text.h"
#include "tasks/revision_hints.h"

namespace agentr {

namespace {

std::string Sentences(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : " ", second);
}

}  // namespace

std::string SaidFirst(std::string_view first, std::string_view response) {
  if (ThoughtOf(response).starts_with(first)) return std::string(response);
  constexpr std::string_view kThought = "Thought:";
  const size_t at = response.rfind(kThought);
  if (at == std::string_view::npos) return fmt::format("{} {}\n{}", kThought, first, response);
  const size_t end = at + kThought.size();
  return fmt::format("{} {}{}", response.substr(0, end), first, response.substr(end));
}

void TakeOutRevisionTurn(std::string_view where, std::string_view reply, Trajectory& trajectory) {
  std::vector<SplicedTurn>& turns = trajectory.turns;
  const auto revision = std::ranges::find(turns, Part::kRevision, &SplicedTurn::part);
  if (turns.end() - revision < 2 || !IsTrained(trajectory, revision[1])) return;
  if (revision->observation != reply) return;
  revision[1].admits = where == "next" ? ThoughtOf(revision->response) : "";
  turns.erase(revision);
}

bool MendThoughts(std::string_view mode, const TaskFamily& family, Trajectory& trajectory,
                  RevisionCounts& counts) {
  std::vector<Message> history = {{"user", trajectory.first_observation}};
  bool admitted = false;  // by the turn before this one, whose answer is not the environment's
  for (SplicedTurn& turn : trajectory.turns) {
    std::optional<WordedAction> worded;
    if (mode != "keep" && turn.part != Part::kRevision && IsTrained(trajectory, turn)) {
      if (mode == "rewrite") worded = family.hints().Reworded(history, turn.action);
      if (worded) {
        if (admitted) worded->check.clear();
        const std::string& first = turn.admits ? *turn.admits : worded->check;
        std::string response = fmt::format("Thought: {}\nAction: {}",
                                           Sentences(first, worded->thought), worded->action);
        turn.action = std::move(worded->action);
        counts.rewritten_turns += response == turn.response ? 0 : 1;
        turn.response = std::move(response);
      } else if (!family.hints().ThoughtFits(history, ThoughtOf(turn.response), turn.action)) {
        if (turn.part != Part::kPrefix) {
          ++counts.disagreeing_rows;
          return false;
        }
        turn.contradicts = true;
        ++counts.disagreeing_turns;
      }
    }
    if (!worded) turn.response = SaidFirst(turn.admits.value_or(""), turn.response);
    admitted = family.IsRevision(turn.action, turn.observation);
    if (admitted) continue;
    history.push_back({"assistant", turn.response});
    history.push_back({"user", turn.observation});
  }
  return true;
}

void ThinkBeforeInserted(const Thoughts& thinking, const std::string& mistake, RandomStream random,
                         Trajectory& trajectory) {
  std::vector<SplicedTurn>& turns = trajectory.turns;
  const auto of_tree = [](const SplicedTurn& turn) { return turn.node >= 0; };
  const bool apart = std::ranges::any_of(
      turns, [&](const SplicedTurn& turn) { return of_tree(turn) && !turn.reasoning.empty(); });
  std::optional<ThoughtMarks> marks;
  for (const SplicedTurn& turn : turns) {
    if (of_tree(turn) && !marks) marks = ThoughtMarksOf(turn.response);
  }
  if (!apart && !marks) return;
  for (size_t i = 1; i < turns.size(); ++i) {
    SplicedTurn& turn = turns[i];
    if (of_tree(turn)) continue;
    const bool recovers = turn.part == Part::kRecovery;
    const SplicedTurn& about = recovers ? turn : turns[i - 1];
    std::string thought = thinking.Pick({recovers ? "recover" : mistake},
                                        {about.action, about.observation, ""}, random);
    if (apart) {
      turn.reasoning = std::move(thought);
    } else {
      turn.response =
          fmt::format("{}\n{}\n{}\n\n{}", marks->open, thought, marks->close, turn.response);
    }
  }
}

}  // namespace agentr
