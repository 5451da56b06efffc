#include "tasks/player.h"

#include <array>

#include "tasks/sciworld/sciworld_player.h"
#include "tasks/textcraft/textcraft_player.h"
#include "tasks/webshop/webshop_player.h"

namespace agentr {

bool PlansByGold(std::string_view family) { return family == "sciworld"; }

std::unique_ptr<Player> MakePlayer(std::string_view family, GoldSource* gold) {
  if (family == "textcraft") return std::make_unique<TextCraftPlayer>();
  if (family == "webshop") return std::make_unique<WebShopPlayer>();
  if (family == "sciworld") return std::make_unique<SciWorldPlayer>(gold);
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
