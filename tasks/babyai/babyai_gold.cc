#include "tasks/babyai/babyai_gold.h"

#include <optional>

#include "clients/language_model.h"
#include "tasks/babyai/babyai_bot.h"

namespace agentr {

std::vector<std::string> Gold(const BabyAiText& game, int64_t data_idx) {
  std::vector<std::string> actions;
  std::optional<BabyAiTextState> state = game.Start(data_idx);
  if (!state) return actions;
  std::vector<Message> conversation = {{"user", state->observation}};
  while (!state->done()) {
    const std::string action(PlanBabyAi(*ReadBabyAi(conversation)).action);
    game.Step(*state, action);
    actions.push_back(action);
    conversation.push_back({"assistant", "Action: " + action});
    conversation.push_back({"user", state->observation});
  }
  return actions;
}

}  // namespace agentr
