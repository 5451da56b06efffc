#include "demos/webshop_demos.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::StartsWith;

// "navy" of "…click[navy]"; "" where nothing is clicked.
std::string ArgumentOfClick(const std::string& text) {
  const size_t at = text.find("click[");
  return at == std::string::npos ? "" : text.substr(at + 6, text.size() - at - 7);
}

TEST(WebShopDemosTest, EveryClickIsAPieceOfThePageAsItIsShown) {
  int clicks = 0;
  for (const DemoRow& row : WebShopDemos({}, 1, 0)) {
    const auto& messages = row["messages"];
    for (size_t i = 3; i < messages.size(); i += 2) {
      const std::string value = ArgumentOfClick(messages[i]["content"]);
      if (value.empty()) continue;
      ++clicks;
      const std::string page = messages[i - 1]["content"];
      EXPECT_NE((page + " [SEP]").find("[SEP] " + value + " [SEP]"), std::string::npos)
          << value << "\n"
          << page;
    }
    EXPECT_TRUE(std::string(messages.back()["content"]).ends_with("click[Buy Now]"));
  }
  EXPECT_THAT(clicks, Gt(20));
}

TEST(WebShopDemosTest, TheSeedAndTheShopDecide) {
  const WebShopDemoOptions few = {.products = 100, .goals = 5};
  EXPECT_EQ(WebShopDemos(few, 1, 0), WebShopDemos(few, 1, 0));
  EXPECT_NE(WebShopDemos(few, 1, 0), WebShopDemos(few, 1, 1));
  EXPECT_NE(WebShopDemos(few, 1, 0), WebShopDemos(few, 2, 0));
}

// The agent's turns of the rows, without those of the instruction.
std::vector<nlohmann::ordered_json> TurnsOf(const std::vector<DemoRow>& rows) {
  std::vector<nlohmann::ordered_json> turns;
  for (const DemoRow& row : rows) {
    const auto& messages = row["messages"];
    for (size_t i = 3; i < messages.size(); i += 2) turns.push_back(messages[i]);
  }
  return turns;
}

constexpr WebShopDemoOptions kSlipping = {
    .products = 100, .goals = 40, .checks = true, .slips = 0.2};

// Red if slips were trained, or mended without a word.
TEST(WebShopDemosTest, SlipsAreNotTrainedAndTheNextThoughtSaysWhatWasDone) {
  int slips = 0, turns = 0;
  for (const DemoRow& row : WebShopDemos(kSlipping, 1, 0)) {
    const auto& messages = row["messages"];
    EXPECT_EQ(messages.back()["weight"], 1);
    for (size_t i = 3; i + 2 < messages.size(); i += 2, ++turns) {
      const std::string text = messages[i]["content"];
      const std::string next = messages[i + 2]["content"];
      const bool slipped = messages[i]["weight"] == 0;
      const bool says = next.find(" instead of ") != std::string::npos;
      slips += slipped;
      // A product with the name of the one that was meant cannot be told from it.
      const bool same_name = slipped && !says && text.find(" may be it.") != std::string::npos;
      EXPECT_TRUE(says == slipped || same_name) << text << "\n" << next;
      const std::string clicked = ArgumentOfClick(text);
      if (clicked.empty()) {
        EXPECT_THAT(next, StartsWith("Thought: I searched for "));
      } else if (!next.starts_with("Thought: This is ")) {
        EXPECT_THAT(next, StartsWith("Thought: I clicked " + clicked + (says ? " instead " : ".")));
      }
    }
  }
  EXPECT_THAT(slips, AllOf(Gt(turns / 10), Lt(turns * 3 / 10)));
}

// The first sentence of a thought says what was done, but in the first turn of an episode.
TEST(WebShopDemosTest, ChecksAreWordsOnly) {
  const auto actions = [](const std::vector<nlohmann::ordered_json>& turns) {
    std::vector<std::string> all;
    for (const auto& turn : turns) {
      const std::string text = turn["content"];
      all.push_back(text.substr(text.find("\nAction: ")));
    }
    return all;
  };
  WebShopDemoOptions silent = kSlipping;
  silent.checks = false;
  const auto without = TurnsOf(WebShopDemos(silent, 1, 0));
  EXPECT_EQ(actions(TurnsOf(WebShopDemos(kSlipping, 1, 0))), actions(without));
  for (const auto& turn : without) {
    EXPECT_THAT(std::string(turn["content"]), Not(HasSubstr(" instead of ")));
  }
}

// The planner would go on from there.
TEST(WebShopDemosTest, AfterAnotherSearchOrProductTheBuyerGoesBack) {
  int searches = 0, products = 0;
  for (const auto& turn : TurnsOf(WebShopDemos(kSlipping, 1, 0))) {
    const std::string text = turn["content"];
    // Where it slips again it goes nowhere.
    if (turn["weight"] == 0 || text.find(" instead of ") == std::string::npos) continue;
    if (text.starts_with("Thought: I searched for ")) {
      ++searches;
      EXPECT_THAT(text, HasSubstr("\nAction: search[")) << text;
    }
    if (text.starts_with("Thought: This is ")) {
      ++products;
      EXPECT_THAT(text, EndsWith("I go back.\nAction: click[< Prev]")) << text;
    }
  }
  EXPECT_THAT(searches, Gt(0));
  EXPECT_THAT(products, Gt(0));
}

}  // namespace
}  // namespace agentr
