#include "tasks/scripted_policy.h"

#include <array>

#include "tasks/babyai/babyai_policy.h"
#include "tasks/detective/detective_policy.h"
#include "tasks/questions/city_table.h"
#include "tasks/questions/questions_policy.h"
#include "tasks/sciworld/sciworld_policy.h"
#include "tasks/textcraft/textcraft_policy.h"
#include "tasks/webshop/archer_policy.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {

bool PlansByGold(std::string_view family) { return family == "sciworld"; }

std::unique_ptr<ScriptedPolicy> MakeScriptedPolicy(std::string_view family, GoldSource* gold) {
  if (family == "textcraft") return std::make_unique<TextCraftPolicy>();
  if (family == "webshop") return std::make_unique<WebShopPolicy>();
  if (family == "webshop_archer") return std::make_unique<ArcherPolicy>();
  if (family == "sciworld") return std::make_unique<SciWorldPolicy>(gold);
  if (family == "babyai") return std::make_unique<BabyAiPolicy>();
  if (family == "twenty_questions") {
    return std::make_unique<QuestionsPolicy>("Twenty Questions", WordTable::BuiltIn());
  }
  if (family == "guess_my_city") {
    return std::make_unique<QuestionsPolicy>("Guess My City", CityTable::BuiltIn().words());
  }
  if (family == "detective") return std::make_unique<DetectivePolicy>();
  return nullptr;
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
