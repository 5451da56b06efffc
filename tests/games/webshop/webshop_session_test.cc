// Scripted sessions through every kind of page, compared with a golden text that a reader can
// follow, made by WebShop's own code (scripts/golden/webshop_session.py). For other actions:
// AGENTR_UPDATE_GOLDEN=1 build/release/bin/webshop_test --gtest_filter=WebShopSession.*, then that
// script.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "common/file.h"
#include "common/python_text.h"
#include "small_shop.h"

namespace agentr {
namespace {

const std::filesystem::path kGolden =
    std::filesystem::path(AGENTR_SOURCE_DIR) / "tests/golden/webshop_session.txt";

// The goal whose text begins like this.
size_t GoalLike(const WebShop& shop, std::string_view text) {
  for (size_t i = 0; i < shop.task_count(); ++i) {
    if (shop.Instruction(shop.Start(i)).starts_with(text)) return i;
  }
  ADD_FAILURE() << "no goal like " << text;
  return 0;
}

void Describe(const WebShop& shop, const WebShopState& state, std::string& out) {
  const ShopPage page = shop.PageOf(state);
  out += fmt::format("  reward {}, done {}, {}\n", PythonFloat(state.reward), state.done,
                     shop.Url(state, "7"));
  std::string pieces = shop.Observation(state);
  for (size_t at = 0; (at = pieces.find(" [SEP] ", at)) != std::string::npos;) {
    pieces.replace(at, 7, "\n    | ");
  }
  out += "    | " + pieces + "\n";
  out += fmt::format("  clickables: {}\n", fmt::join(Clickables(page), " / "));
}

std::string Play(const WebShop& shop, std::string_view goal,
                 const std::vector<std::string>& actions) {
  WebShopState state = shop.Start(GoalLike(shop, goal));
  std::string out = "=== " + shop.Instruction(state) + "\n";
  Describe(shop, state, out);
  for (const std::string& action : actions) {
    shop.Step(state, action);
    out += fmt::format("> {}\n", action);
    Describe(shop, state, out);
  }
  return out;
}

TEST(WebShopSession, EveryKindOfPage) {
  const WebShop shop = testing::SmallShop({.seed = 1});
  std::string text =
      Play(shop, "i need an insulated water bottle with color: red, and size: 24 oz",
           {"click[buy now]", "search[water bottle]", "click[next >]", "click[< prev]",
            "click[B000000001]", "click[red]", "click[description]", "click[< Prev]",
            "click[features]", "click[< prev]", "click[reviews]", "click[< prev]", "click[24 oz]",
            "click[navy blue]", "click[red]", "click[buy now]"});
  text += Play(shop, "i want natural soap",
               {"search[<q> hand soap]", "click[b000000003]", "click[description]", "click[< prev]",
                "click[features]", "click[back to search]", "search[<q> tea]"});
  text += Play(shop, "get me a machine wash t-shirt with color: black  |  grey",
               {"search[<c> fashion]", "click[b000000004]", "click[youth]", "click[description]",
                "click[< prev]", "click[< prev]", "click[b000000004]", "click[buy now]"});
  const WebShop with_attributes = testing::SmallShop({.seed = 1, .show_attributes = true});
  text += Play(with_attributes, "i need an insulated",
               {"search[insulated bottle]", "click[b000000001]", "click[attributes]"});
  if (std::getenv("AGENTR_UPDATE_GOLDEN") != nullptr) std::ofstream(kGolden) << text;
  EXPECT_EQ(text, ReadFile(kGolden));
}

}  // namespace
}  // namespace agentr
