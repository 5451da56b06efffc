#include "tasks/detective/detective_gold.h"

#include <optional>

#include "clients/language_model.h"
#include "tasks/detective/detective_map.h"

namespace agentr {

std::vector<std::string> Gold(const Detective& game, int64_t data_idx) {
  std::vector<std::string> actions;
  std::optional<DetectiveState> state = game.Start(data_idx);
  if (!state) return actions;
  std::vector<Message> conversation = {{"user", state->observation}};
  // Refused actions would cost no step.
  while (!state->done() && actions.size() < DetectiveState::kMostSteps) {
    actions.push_back(NextDetectiveAction(*ReadDetective(conversation)));
    game.Step(*state, actions.back());
    conversation.push_back({"assistant", "Action: " + actions.back()});
    conversation.push_back({"user", state->observation});
  }
  return actions;
}

}  // namespace agentr
