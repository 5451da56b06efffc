// BabyAI (Chevalier-Boisvert et al. 2019): errands in a grid world of rooms, doors, keys, balls and
// boxes, seen in part and told as text, as AgentGym serves it.
//
// AgentGym's server ends every reply with the actions that can be taken now, as a list of quoted
// texts after "Available actions: ". It takes these, word for word, and nothing else; each of them
// stands for as many turns and steps in the grid as it needs.
//
// The reward is the server's "reward": 1 - 0.9 * (moves so far / moves allowed) once the goal is
// reached, 0 before. Its "score" adds that up again with every reply and can pass 1, so it is not
// read. A goal that is reached late (reward of at most 0.5) does not end the episode on that
// server.
#pragma once

#include "tasks/task_family.h"

namespace agentr {

class BabyAiFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "babyai"; }
  std::vector<Message> Instruction() const override;  // configs/prompts/babyai.txt

  // The first line of the action's text, in lower case, of letters, digits, commas and single
  // blanks only, as AgentGym's own client sends it; "pick up" as "pickup", which the server knows.
  std::string ParseAction(std::string_view response) const override;

  // A refusal, or the list of actions that was asked for: then the server has not moved in the
  // grid. Both replies must offer the same actions, too. An action that was tried and moved nothing
  // has cost a move, and with it reward, so it is a change.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;

  // The reply says that the action is not known or cannot be done now, or that it does nothing.
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;

  // What the last observation does not offer.
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;
};

// The actions that a reply of the server offers; empty where it has no list.
std::vector<std::string_view> BabyAiActions(std::string_view reply);

}  // namespace agentr
