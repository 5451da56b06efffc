#include "revision/make/splice.h"

#include <fmt/core.h>

#include <algorithm>

#include "revision/find/pairing.h"

namespace agentr {
namespace {

void AppendTurns(const Tree& tree, const StateMap& states, const std::vector<int>& nodes, Part part,
                 std::vector<SplicedTurn>& turns) {
  for (const int node : nodes) {
    const Node& turn = tree.node(node);
    turns.push_back({part, node, turn.response, turn.action, turn.observation, states.Refused(node),
                     turn.reasoning, turn.slip.has_value()});
  }
}

}  // namespace

bool IsTrained(const Trajectory& trajectory, const SplicedTurn& turn) {
  if (turn.refused || turn.slipped || turn.contradicts || turn.part == Part::kBad) return false;
  return turn.part != Part::kPrefix || trajectory.train_prefix;
}

SplicePlan PlanOf(const Tree& tree, const StateMap& states, const PathPair& pair, int bad_steps) {
  SplicePlan plan;
  const std::vector<int> good = tree.Path(pair.good.leaf);
  if (pair.bad.leaf < 0) {
    plan.good.assign(good.begin() + 1, good.end());
    return plan;
  }
  const auto shared = tree.node(pair.ancestor).depth;
  const std::vector<int> bad = tree.Path(pair.bad.leaf);
  plan.prefix.assign(bad.begin() + 1, bad.begin() + 1 + shared);
  plan.bad.assign(bad.begin() + 1 + shared, bad.begin() + 1 + shared + bad_steps);
  const int parting = states.Of(pair.ancestor);
  const auto arrival =
      std::ranges::find_if(good, [&](int node) { return states.Of(node) == parting; });
  if (arrival != good.end()) plan.good.assign(arrival + 1, good.end());
  return plan;
}

Trajectory Splice(const Tree& tree, const StateMap& states, const SplicePlan& plan,
                  const RevisionTurn& revision) {
  Trajectory trajectory{tree.instruction(), tree.root().observation, {}};
  std::vector<SplicedTurn>& turns = trajectory.turns;
  AppendTurns(tree, states, plan.prefix, Part::kPrefix, turns);
  AppendTurns(tree, states, plan.bad, Part::kBad, turns);
  if (!plan.bad.empty()) {
    turns.push_back({Part::kRevision, -1,
                     fmt::format("Thought: {}\nAction: {}", revision.thought, revision.action),
                     revision.action, revision.reply});
  }
  AppendTurns(tree, states, plan.good, Part::kGood, turns);
  return trajectory;
}

std::vector<RowMessage> RowMessages(const Trajectory& trajectory) {
  std::vector<RowMessage> messages;
  for (const Message& message : trajectory.instruction) {
    messages.push_back({message.role, &message.content, false, -1});
  }
  messages.push_back({"user", &trajectory.first_observation, false, -1});
  for (size_t i = trajectory.dropped_turns; i < trajectory.turns.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const int index = static_cast<int>(i);
    messages.push_back({"assistant", &turn.response, IsTrained(trajectory, turn), index,
                        turn.part == Part::kRevision || !turn.admits.value_or("").empty()});
    messages.back().reasoning = &turn.reasoning;
    if (i + 1 < trajectory.turns.size()) {
      messages.push_back({"user", &turn.observation, false, index});
    }
  }
  return messages;
}

int64_t EstimateTokens(const std::string& content, const std::string& reasoning) {
  return 4 + static_cast<int64_t>((content.size() + reasoning.size() + 3) / 4);
}

bool FitContext(Trajectory& trajectory, int dropped_turns, int64_t max_tokens) {
  const std::vector<SplicedTurn>& turns = trajectory.turns;
  const auto count = [&](Part part) {
    return static_cast<size_t>(std::ranges::count(turns, part, &SplicedTurn::part));
  };
  const size_t droppable = count(Part::kBad) > 0 ? count(Part::kPrefix) : turns.size();
  // At least the last turn of a good path alone stays.
  const size_t most = std::min(droppable, std::max<size_t>(turns.size(), 1) - 1);
  trajectory.dropped_turns = std::min(static_cast<size_t>(dropped_turns), most);
  if (max_tokens == 0) return true;
  int64_t tokens = 0;
  for (const RowMessage& m : RowMessages(trajectory)) {
    tokens += EstimateTokens(*m.content, m.reasoning == nullptr ? "" : *m.reasoning);
  }
  while (tokens > max_tokens && trajectory.dropped_turns < most) {
    const SplicedTurn& oldest = turns[trajectory.dropped_turns++];
    tokens -=
        EstimateTokens(oldest.response, oldest.reasoning) + EstimateTokens(oldest.observation);
  }
  return tokens <= max_tokens;
}

}  // namespace agentr
