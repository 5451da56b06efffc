// WebShop as ArCHer shows it: recorded episodes of ArCHer's own client on WebShop's own pages, the
// rules one by one, and the reader of the logs, which must find the pages of AgentGym's style in
// them.
#include "games/webshop/archer_shop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/random.h"
#include "common/text.h"
#include "games/webshop/archer_page.h"
#include "games/webshop/shop_generator.h"
#include "servers/webshop_service.h"
#include "small_shop.h"
#include "tasks/scripted_model.h"
#include "tasks/webshop/archer_family.h"
#include "tasks/webshop/archer_log.h"
#include "tasks/webshop/webshop_page.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ArcherShopTest : public ::testing::Test {
 protected:
  // The answer to the last of `actions`.
  std::string After(const std::vector<std::string>& actions, int64_t goal = 0) {
    state_ = *shop_.Start(goal);
    for (const std::string& action : actions) shop_.Step(state_, action);
    return std::string(LastObservation(state_.observation));
  }

  const ArcherShop shop_{testing::SharedSmallShop({.seed = 1})};
  ArcherState state_;
};

TEST_F(ArcherShopTest, EpisodesAreThoseOfTheOriginal) {
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/archer_episodes.json"));
  size_t marks = 0;
  for (const auto& episode : golden["episodes"]) {
    ArcherState state = *shop_.Start(episode["goal"]);
    for (size_t i = 0; i < episode["actions"].size(); ++i) {
      EXPECT_FALSE(state.done());
      shop_.Step(state, episode["actions"][i].get<std::string>());
      EXPECT_EQ(state.shop.reward, episode["rewards"][i]);
    }
    EXPECT_TRUE(state.done());
    EXPECT_EQ(state.observation, episode["log"].get<std::string>());
    marks += state.observation.find("[[") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(golden["episodes"].size(), 8u);
  EXPECT_GT(marks, 0u) << "a chosen option was shown";
}

TEST_F(ArcherShopTest, TheLogBeginsAndEndsWithTheInstruction) {
  const std::string text = shop_.shop().Instruction(shop_.shop().Start(0));
  EXPECT_EQ(shop_.Start(0)->observation,
            fmt::format("\nObservation:\n\nWebShop \nInstruction:  \n{0} \n[Search] "
                        "\nInstruction:\n{0} ",
                        text))
      << "the text ends with a blank";
  EXPECT_FALSE(shop_.Start(-1));
  EXPECT_FALSE(shop_.Start(shop_.task_count()));
}

TEST_F(ArcherShopTest, TheEleventhCallEndsTheSession) {
  const std::string text = shop_.shop().Instruction(shop_.shop().Start(0));
  After({"search[lamp]", "click[B000000005]"});
  for (int i = 2; i < 10; ++i) shop_.Step(state_, "think[one more]");
  EXPECT_FALSE(state_.done());
  EXPECT_THAT(state_.observation, EndsWith("\nInstruction:\n" + text + " "));
  const std::string before = state_.observation;
  shop_.Step(state_, "click[Buy Now]");
  EXPECT_TRUE(state_.done());
  EXPECT_EQ(state_.score, 0);
  EXPECT_EQ(state_.observation + "\nInstruction:\n" + text + " ", before)
      << "the action is not taken, and the instruction is gone";
  const std::string ended = state_.observation;
  shop_.Step(state_, "click[Buy Now]");
  EXPECT_EQ(state_.observation, ended) << "it stays as it is";
  EXPECT_TRUE(state_.done());
}

TEST_F(ArcherShopTest, TheTenthActionCanStillBuy) {
  constexpr int64_t kLamp = 11;  // "i am after an efficient lamp with style: next >"
  After({"search[lamp]", "click[B000000005]"}, kLamp);
  for (int i = 2; i < 9; ++i) shop_.Step(state_, "wait");
  shop_.Step(state_, "click[Buy Now]");
  EXPECT_TRUE(state_.done());
  EXPECT_GT(state_.shop.reward, 0);
  EXPECT_EQ(state_.score, state_.shop.reward);
  EXPECT_THAT(state_.observation, HasSubstr("\nYour score (min 0.0, max 1.0): "));
  shop_.Step(state_, "wait");
  EXPECT_EQ(state_.shop.reward, 0) << "it is paid once";
}

TEST_F(ArcherShopTest, WhatIsNotPossibleIsInvalid) {
  for (const std::string action :
       {"", "\n", "wait", "search", "Search[lamp]", "click[Back to Search]", "click[Next >]",
        "click[Buy Now]", "click[Features]", "buy", "click"}) {
    EXPECT_EQ(After({action}), "Invalid action!") << action;
    EXPECT_EQ(state_.steps, 1) << "it costs an action";
  }
  for (const std::string action : {"search[lamp]", "click[Next >]", "click[< Prev]", "click[]",
                                   "click[b000000005]", "click[back to search]", "click[zz]"}) {
    EXPECT_EQ(After({"search[lamp]", action}), "Invalid action!") << action;
  }
  for (const std::string action : {"click[buy now]", "click[Lamp]", "click[style]"}) {
    EXPECT_EQ(After({"search[lamp]", "click[B000000005]", action}), "Invalid action!") << action;
  }
  for (const std::string action : {"click[Buy Now]", "click[Description]", "click[Next >]"}) {
    EXPECT_EQ(After({"search[lamp]", "click[B000000005]", "click[Features]", action}),
              "Invalid action!");
  }
}

TEST_F(ArcherShopTest, TheStartPageAndSubPagesShowThemselvesAgainForWhatIsNotThere) {
  const std::string start = After({});
  for (const std::string action : {"click[Search]", "click[B000000005]", "click[]", "click["}) {
    EXPECT_EQ(After({action}), start) << action;
    EXPECT_TRUE(ArcherFamily().IsRefusal("", action, state_.observation)) << action;
  }
  const std::vector<std::string> to_page = {"search[lamp]", "click[B000000005]",
                                            "click[Description]"};
  const std::string page = After(to_page);
  for (const std::string action : {"click[modern]", "click[zz]", "click[buy now]"}) {
    EXPECT_EQ(After({to_page[0], to_page[1], to_page[2], action}), page) << action;
  }
  EXPECT_EQ(state_.shop.chosen.size(), 0u) << "an option of the product's page is none here";
}

TEST_F(ArcherShopTest, ASearchWithoutWordsShowsNothing) {
  for (const std::string action : {"search[]", "search[", "search[x"}) {
    EXPECT_EQ(After({action}), "") << action;
    EXPECT_EQ(After({action, "click[B000000005]"}), "Invalid action!");
    EXPECT_EQ(After({action, "click[Back to Search]"}), After({})) << action;
  }
}

TEST_F(ArcherShopTest, TheLastCharacterCountsAsTheBracket) {
  EXPECT_EQ(After({"search[lampé"}), After({"search[lamp]"}));
  EXPECT_EQ(After({"search[lamp] "}), After({"search[lamp]"})) << "a bracket separates words";
  EXPECT_THAT(After({"search[lamp"}), HasSubstr("(Total results: 0)"));
  EXPECT_EQ(After({"search[lamp]", "click[B000000005"}), "Invalid action!");
  EXPECT_THAT(After({"search[lamp]", "click[B000000005)"}), HasSubstr("\nCostly Lamp "));
}

TEST_F(ArcherShopTest, NamesOfListsAreWords) {
  EXPECT_THAT(After({"search[<c> garden]"}), HasSubstr("(Total results: 0)"));
  EXPECT_THAT(After({"search[<q> lamp]"}), HasSubstr("\n[B000000005] "));
}

// The original remembers the options of the last product that had some.
TEST_F(ArcherShopTest, OptionsOfTheProductBeforeStay) {
  const std::vector<std::string> other = {"search[lamp prices]", "click[B000000005]",
                                          "click[< Prev]", "click[B000000006]"};
  After(other);
  ASSERT_TRUE(shop_.shop().catalogue().products()[state_.shop.product].options.empty());
  EXPECT_THAT(shop_.Clickables(state_), Contains("modern"));
  EXPECT_EQ(After({other[0], other[1], other[2], other[3], "click[modern]"}),
            "You have clicked modern.");
  EXPECT_EQ(state_.shop.chosen.size(), 1u);
  EXPECT_EQ(
      After({other[0], other[1], "click[Back to Search]", other[0], other[3], "click[modern]"}),
      "Invalid action!")
      << "until the next search";
}

TEST_F(ArcherShopTest, ThoughtsAreAnsweredWithOk) {
  EXPECT_EQ(After({"think[a lamp]"}), "OK.");
  EXPECT_EQ(After({"think[]\n"}), "OK.");
  EXPECT_THAT(state_.observation, HasSubstr("\nAction:\nthink[]\nObservation:\nOK.\n"))
      << "without the line break at its end";
}

TEST_F(ArcherShopTest, AnOptionIsChosenAndShownInDoubleBrackets) {
  EXPECT_EQ(After({"search[lamp]", "click[B000000005]", "click[next >]"}),
            "You have clicked next >.");
  EXPECT_THAT(After({"search[lamp]", "click[B000000005]", "click[next >]", "click[Features]",
                     "click[< Prev]"}),
              HasSubstr("\nstyle [description][[next >]][modern]\nCostly Lamp \nPrice: $1234.5 "));
  EXPECT_THAT(After({"search[lamp]", "click[B000000005]", "click[modern]", "click[< Prev]",
                     "click[B000000005]"}),
              HasSubstr("[modern]\n"))
      << "going back forgets it";
  EXPECT_EQ(After({"search[lamp]", "click[B000000005]", "click[description]"}),
            "You have clicked description.")
      << "no button is spelled so";
  EXPECT_EQ(state_.shop.place, ShopPlace::kItem);
  EXPECT_THAT(After({"search[lamp]", "click[B000000005]", "click[Attributes]"}),
              StartsWith("\n[Back to Search] \n[< Prev] \n"))
      << "the page can be had without its button";
}

// Options stand in the address as Python prints them: one with an apostrophe in double quotes.
TEST(ArcherText, MarksWhatTheAddressQuotes) {
  ShopPage page;
  for (const char* text : {"label", "instruction", " ", "size"}) {
    page.Add(PieceKind::kOptionName, text);
  }
  for (const char* text : {"men's", "small", "size"}) page.Add(PieceKind::kOptionValue, text);
  EXPECT_EQ(ArcherText(page, "words/{'size': 'small'}"), "\nsize [men's][[small]][[size]]");
  EXPECT_EQ(ArcherText(page, R"(words/{'size': "men's"})"), "\nsize [men's][small][[size]]");
}

TEST(ArcherText, EscapesAreRead) {
  ShopPage page;
  page.has_search_bar = true;
  page.Add(PieceKind::kText, R"(caf\xc3\xa9\nau\tlait)");
  EXPECT_EQ(ArcherText(page, ""), "\ncafé\nau\tlait ");
}

TEST_F(ArcherShopTest, OnlyThreeProductsAreShownButAllCanBeClicked) {
  const ArcherShop shop = ArcherShop::BuiltIn();
  ArcherState state = *shop.Start(2000);
  shop.Step(state, "search[shirt]");
  const std::vector<std::string> names = shop.Clickables(state);
  ASSERT_EQ(names.size(), 11u) << "Back to Search and ten products";
  const std::string page(LastObservation(state.observation));
  EXPECT_THAT(page, AllOf(HasSubstr(names[1]), HasSubstr(names[3]), Not(HasSubstr(names[4]))));
  EXPECT_EQ(std::ranges::count(page, '\n'), 3 + 3 * 3)
      << "the buttons, the heading and the products";
  shop.Step(state, fmt::format("click[{}]", names[10]));
  EXPECT_THAT(shop.Clickables(state), Contains("Buy Now"));
}

// What the default style would show after the same moves, as the reader finds it in the log.
std::string ShownPage(const ArcherShop& shop, const ArcherState& state) {
  std::string text = OneLine(shop.shop().Observation(state.shop));
  if (state.shop.place != ShopPlace::kResults) return text;
  const std::vector<std::string_view> pieces = SplitPieces(text);
  constexpr size_t kShown = 5 + 3 * 3;
  return text.substr(0, pieces.size() <= kShown
                            ? text.size()
                            : static_cast<size_t>(pieces[kShown].data() - text.data()) - 7);
}

TEST(ArcherLog, ReadsThePagesOfAgentGymsStyle) {
  const ArcherShop shop = ArcherShop::BuiltIn();
  RandomStream random(5);
  int pages = 0;
  for (int64_t goal = 2000; goal < 2100; ++goal) {
    ArcherState state = *shop.Start(goal);
    while (!state.done()) {
      for (const std::string& log : {state.observation, OneLine(state.observation)}) {
        const ArcherSession session = ReadArcherLog(log);
        ASSERT_EQ(session.turns.back().content, ShownPage(shop, state)) << log;
        EXPECT_EQ(session.actions, state.steps);
      }
      ++pages;
      const std::vector<std::string> names = shop.Clickables(state);
      const auto words = SplitPieces(shop.shop().Observation(state.shop))[2];
      const bool start = state.shop.place == ShopPlace::kStart;
      shop.Step(state, random.Chance(0.1) ? "wait"
                       : start            ? fmt::format("search[{}]", words)
                                          : fmt::format("click[{}]", random.Pick(names)));
    }
  }
  EXPECT_GT(pages, 500);
}

// Plays a goal with the scripted planner without mistakes, to the end.
template <typename Shop>
WebShopState PlayPlanner(const Shop& shop, const TaskFamily& family, int64_t goal) {
  const auto planner = MakeScriptedModel("planner", family, {.error_rate = 0});
  auto state = *shop.Start(goal);
  std::vector<Message> conversation = family.Instruction();
  conversation.push_back({"user", OneLine(shop.Observation(state))});
  for (int turn = 0; turn < 20 && !Shop::Place(state).done; ++turn) {
    const std::string said = planner->Complete(conversation, 1, {}).value().completions[0].text;
    shop.Step(state, family.ParseAction(said));
    conversation.push_back({"assistant", said});
    conversation.push_back({"user", OneLine(shop.Observation(state))});
  }
  return Shop::Place(state);
}

// Three products instead of ten and ten actions are less to choose from.
TEST(ArcherPlanner, BuysAboutAsWellAsInAgentGymsStyle) {
  const auto shop = std::make_shared<const WebShop>(
      GenerateShop(kDefaultShopSize, kDefaultShopSeed), ShopOptions{.seed = kDefaultShopSeed});
  double archer = 0, pages = 0;
  int bought = 0;
  for (int64_t goal = 2000; goal < 2100; ++goal) {
    const WebShopState end = PlayPlanner(ArcherShop(shop), ArcherFamily(), goal);
    archer += end.reward / 100;
    bought += end.place == ShopPlace::kDone ? 1 : 0;
    pages += PlayPlanner(PageShop(shop), WebShopFamily(), goal).reward / 100;
  }
  EXPECT_GT(archer, 0.85);
  EXPECT_GT(archer, pages - 0.05);
  EXPECT_EQ(bought, 100) << "never out of actions";
}

}  // namespace
}  // namespace agentr
