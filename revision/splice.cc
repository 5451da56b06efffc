#include "revision/splice.h"

#include <fmt/core.h>

#include <algorithm>

namespace agentr {
namespace {

SplicedTurn TurnOf(const Tree& tree, int node, Part part) {
  const Node& turn = tree.node(node);
  return {part, node, turn.response, turn.action, turn.observation};
}

}  // namespace

Trajectory Splice(const Tree& tree, const PathPair& pair, int bad_steps,
                  const RevisionTurn& revision) {
  const auto shared = static_cast<size_t>(tree.node(pair.ancestor).depth);
  const std::vector<int> good = tree.Path(pair.good.leaf);
  Trajectory trajectory{tree.instruction(), tree.root().observation, {}};
  std::vector<SplicedTurn>& turns = trajectory.turns;
  for (size_t i = 1; i <= shared; ++i) turns.push_back(TurnOf(tree, good[i], Part::kPrefix));
  if (pair.bad.leaf < 0) return trajectory;
  const std::vector<int> bad = tree.Path(pair.bad.leaf);
  for (size_t i = shared + 1; i <= shared + static_cast<size_t>(bad_steps); ++i) {
    turns.push_back(TurnOf(tree, bad[i], Part::kBad));
  }
  turns.push_back({Part::kRevision, -1,
                   fmt::format("Thought: {}\nAction: {}", revision.thought, revision.action),
                   revision.action, revision.reply});
  for (size_t i = shared + 1; i < good.size(); ++i) {
    turns.push_back(TurnOf(tree, good[i], Part::kGood));
  }
  return trajectory;
}

std::vector<RowMessage> RowMessages(const Trajectory& trajectory) {
  std::vector<RowMessage> messages;
  for (const Message& message : trajectory.instruction) {
    messages.push_back({message.role, &message.content, message.role == "assistant", -1});
  }
  messages.push_back({"user", &trajectory.first_observation, false, -1});
  for (size_t i = trajectory.dropped_turns; i < trajectory.turns.size(); ++i) {
    const SplicedTurn& turn = trajectory.turns[i];
    const int index = static_cast<int>(i);
    messages.push_back({"assistant", &turn.response, turn.part != Part::kBad, index});
    messages.push_back({"user", &turn.observation, false, index});
  }
  return messages;
}

int64_t EstimateTokens(const std::string& content) {
  return 4 + static_cast<int64_t>((content.size() + 3) / 4);
}

bool FitContext(Trajectory& trajectory, int dropped_turns, int64_t max_tokens) {
  const auto prefix =
      static_cast<size_t>(std::ranges::count(trajectory.turns, Part::kPrefix, &SplicedTurn::part));
  // Of a good path on its own at least the last turn stays.
  const size_t most = std::min(prefix, std::max<size_t>(trajectory.turns.size(), 1) - 1);
  trajectory.dropped_turns = std::min(static_cast<size_t>(dropped_turns), most);
  if (max_tokens == 0) return true;
  int64_t tokens = 0;
  for (const RowMessage& m : RowMessages(trajectory)) tokens += EstimateTokens(*m.content);
  while (tokens > max_tokens && trajectory.dropped_turns < most) {
    const SplicedTurn& oldest = trajectory.turns[trajectory.dropped_turns++];
    tokens -= EstimateTokens(oldest.response) + EstimateTokens(oldest.observation);
  }
  return tokens <= max_tokens;
}

}  // namespace agentr
