// BabyAI (Chevalier-Boisvert et al. 2019) as AgentGym serves it: missions in a partially observed
// grid world of rooms, doors, keys, balls and boxes, described as text.
//
// AgentGym's server ends every reply with the actions that are possible now, as a list of quoted
// texts after "Available actions: ". It accepts exactly these texts and nothing else. One action
// may take several turns and steps in the grid.
//
// The reward is the server's "reward": 1 - 0.9 * (moves so far / moves allowed) once the goal is
// reached, 0 before. Its "score" adds the reward again with every reply and can exceed 1, so it is
// ignored. If the goal is reached late (reward of at most 0.5), that server does not end the
// episode.
#pragma once

#include "tasks/revision_hints.h"
#include "tasks/task_family.h"

namespace agentr {

class BabyAiFamily : public TaskFamily, public RevisionHints {
 public:
  std::string_view name() const override { return "babyai"; }
  const RevisionHints& hints() const override { return *this; }

  // The first line of the action's text, in lower case, of letters, digits, commas and single
  // blanks only, as AgentGym's own client sends it; "pick up" becomes "pickup", which the server
  // knows.
  std::string ParseAction(std::string_view response) const override;

  // True for a refusal and for the list of actions on request, because then the server has not
  // moved in the grid; both replies must also offer the same actions. An action that was tried
  // without effect has cost a move, and so reward: it is a change.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;

  // True if the reply says that the action is unknown, cannot be done now, or does nothing, and in
  // BabyAI-Text if a move shows the same as before, as walking into a wall does.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;

  // BabyAI-Text's actions are single moves: its bot needs up to about 30.
  int SearchDepth(int /*task*/) const override { return 40; }

  // A goal reached with the last move is worth 0.1, up to rounding.
  double SuccessReward() const override { return 0.09; }

  // Of BabyAI-Text: where the agent stands, what it carries and what it sees. Empty for AgentGym's
  // own server.
  std::string StateKey(std::span<const Message> history) const override;

  // The way back from the last move, then the other moves.
  std::vector<std::string> Recoveries(std::span<const Message> history,
                                      std::span<const std::string> wanted) const override;

  // True for actions that the last observation does not offer.
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;
};

// The actions that a reply of the server offers; empty if it has no list.
std::vector<std::string_view> BabyAiActions(std::string_view reply);

}  // namespace agentr
