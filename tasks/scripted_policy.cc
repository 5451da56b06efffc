#include "tasks/scripted_policy.h"

#include <array>

#include "games/questions/city_table.h"
#include "tasks/babyai/babyai_policy.h"
#include "tasks/detective/detective_policy.h"
#include "tasks/questions/questions_policy.h"
#include "tasks/sciworld/sciworld_policy.h"
#include "tasks/textcraft/textcraft_policy.h"
#include "tasks/webshop/archer_policy.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {

bool PlansByGold(std::string_view family) { return family == "sciworld"; }

std::string PolicyState::Mistake(RandomStream& random) {
  const std::string right = Plan();
  std::string wrong = right;
  while (wrong == right) wrong = AnyAction(random);
  return wrong;
}

std::optional<ScriptedPolicy> MakeScriptedPolicy(std::string_view family, GoldSource* gold) {
  using Conversation = std::span<const Message>;
  // The policies that need nothing but the conversation.
  const auto of = [](std::string_view title, auto read) {
    return ScriptedPolicy{title, [read](Conversation shown, int) { return read(shown); }};
  };
  if (family == "textcraft") return of("TextCraft", ReadTextCraftPolicy);
  if (family == "webshop") return of("WebShop", ReadWebShopPolicy);
  if (family == "webshop_archer") return of("WebShop in ArCHer's style", ReadArcherPolicy);
  if (family == "babyai") return of("BabyAI-Text", ReadBabyAiPolicy);
  if (family == "detective") return of("Detective", ReadDetectivePolicy);
  if (family == "twenty_questions") {
    return of("Twenty Questions",
              [](Conversation shown) { return ReadQuestionsPolicy(shown, WordTable::BuiltIn()); });
  }
  if (family == "guess_my_city") {
    return of("Guess My City", [](Conversation shown) {
      return ReadQuestionsPolicy(shown, CityTable::BuiltIn().words());
    });
  }
  if (family != "sciworld") return std::nullopt;
  return ScriptedPolicy{"SciWorld", [gold](Conversation shown, int task_id) {
                          return ReadSciWorldPolicy(shown, task_id, gold);
                        }};
}

std::string_view AnyOpening(RandomStream& random) {
  static constexpr std::array<std::string_view, 6> kOpenings = {
      "",
      "Let me see. ",
      "So far so good. ",
      "One step at a time. ",
      "I think I know. ",
      "Next step. ",
  };
  return random.Pick(kOpenings);
}

}  // namespace agentr
