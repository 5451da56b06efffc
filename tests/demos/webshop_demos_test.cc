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
    .products = 100, .goals = 40, .names = true, .slips = 0.2};

// Red if slips were trained, or mended without a word.
TEST(WebShopDemosTest, SlipsAreNotTrainedAndTheNextThoughtSaysWhatWasDone) {
  int slips = 0, turns = 0;
  for (const DemoRow& row : WebShopDemos(kSlipping, 1, 0)) {
    const auto& messages = row["messages"];
    EXPECT_EQ(messages.back()["weight"], 1);
    for (size_t i = 3; i + 2 < messages.size(); i += 2, ++turns) {
      const std::string action = ArgumentOfClick(messages[i]["content"]);
      const std::string next = messages[i + 2]["content"];
      const bool says = next.find(" instead of ") != std::string::npos;
      if (messages[i]["weight"] == 1) {
        EXPECT_FALSE(says) << next;
        continue;
      }
      ++slips;
      // A product with the name of the one that was meant cannot be told from it.
      const std::string thought = messages[i]["content"];
      if (thought.find(" may be it.") == std::string::npos) {
        EXPECT_TRUE(says) << next;
      }
      if (says && !action.empty() && !next.starts_with("Thought: This is ")) {
        EXPECT_THAT(next, StartsWith("Thought: I clicked " + action + " instead of ")) << thought;
      }
    }
  }
  EXPECT_THAT(slips, AllOf(Gt(turns / 10), Lt(turns * 3 / 10)));
}

TEST(WebShopDemosTest, WithoutNoticesOnlyTheWordsAboutTheSlipAreMissing) {
  WebShopDemoOptions silent = kSlipping;
  silent.notices = false;
  const auto with = TurnsOf(WebShopDemos(kSlipping, 1, 0));
  const auto without = TurnsOf(WebShopDemos(silent, 1, 0));
  ASSERT_EQ(with.size(), without.size());
  int notices = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i]["weight"], without[i]["weight"]);
    std::string text = with[i]["content"];
    if (const size_t at = text.find(" instead of "); at != std::string::npos) {
      text.replace(9, text.find(". ", at) + 2 - 9, "");
      ++notices;
    }
    EXPECT_EQ(text, without[i]["content"]);
  }
  EXPECT_THAT(notices, Gt(20));
}

// The planner would go on from there.
TEST(WebShopDemosTest, AfterAnotherSearchOrProductTheBuyerGoesBack) {
  int searches = 0, products = 0;
  for (const auto& turn : TurnsOf(WebShopDemos(kSlipping, 1, 0))) {
    const std::string text = turn["content"];
    if (turn["weight"] == 0) continue;  // slips again
    if (text.starts_with("Thought: I searched for ")) {
      ++searches;
      EXPECT_THAT(text, HasSubstr("\nAction: search[")) << text;
    }
    if (text.starts_with("Thought: This is ") && text.find(" instead of ") != std::string::npos) {
      ++products;
      EXPECT_THAT(text, EndsWith("I go back.\nAction: click[< Prev]")) << text;
    }
  }
  EXPECT_THAT(searches, Gt(0));
  EXPECT_THAT(products, Gt(0));
}

}  // namespace
}  // namespace agentr
