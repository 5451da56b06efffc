#include "games/webshop/webshop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "html_text.h"
#include "small_shop.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WebShopTest : public ::testing::Test {
 protected:
  // The page after `actions` from the start of goal 0.
  std::string After(const std::vector<std::string>& actions) {
    state_ = shop_.Start(0);
    for (const std::string& action : actions) shop_.Step(state_, action);
    return shop_.Observation(state_);
  }
  std::vector<std::string> Clickable() const { return Clickables(shop_.PageOf(state_)); }
  std::string Chosen() const { return ChoicesJson(state_.chosen); }

  const WebShop shop_ = testing::SmallShop({.seed = 1});
  WebShopState state_;
};

TEST_F(WebShopTest, WhatIsNoActionLeavesThePage) {
  const std::vector<std::string> item = {"search[lamp]", "click[b000000005]"};
  const std::string page = After(item);
  ASSERT_THAT(page, HasSubstr("Costly Lamp"));
  for (const std::string action : {"",
                                   "buy now",
                                   "click",
                                   "click[]",
                                   "[buy now]",
                                   "click[nothing]",
                                   "Click[buy now]",
                                   " click[buy now]",
                                   "click [buy now]",
                                   "look[buy now]",
                                   "click[buy now",
                                   "click buy now]",
                                   "\nclick[buy now]",
                                   "click[\nbuy now]",
                                   "search[]",
                                   "click[search]",
                                   "click[b000000005]",
                                   "click[costly lamp]",
                                   "click[style]",
                                   "x[click[buy now]]"}) {
    auto actions = item;
    actions.push_back(action);
    EXPECT_EQ(After(actions), page) << action;
    EXPECT_FALSE(state_.done);
  }
}

TEST_F(WebShopTest, ActionsAreReadAsTheOriginalReadsThem) {
  const std::string results = After({"search[lamp]"});
  EXPECT_EQ(After({"search[LAMP]"}), results) << "lower-cased";
  EXPECT_EQ(After({"search[lamp] and more"}), results) << "what follows does not count";
  EXPECT_EQ(After({"search[lamp]\nThought: x"}), results);
  EXPECT_NE(After({"x search[lamp]"}), results) << "the name is all before the bracket";
  EXPECT_THAT(After({"search[lamp]", "click[b000000005]", "click[buy now] now]"}),
              Not(HasSubstr("Thank you")))
      << "the argument runs to the last bracket";
}

TEST_F(WebShopTest, ASearchWorksOnEveryPage) {
  const std::string results = After({"search[lamp]"});
  EXPECT_EQ(After({"search[tea]", "search[lamp]"}), results);
  EXPECT_EQ(After({"search[tea]", "click[b000000007]", "search[lamp]"}), results);
  EXPECT_EQ(After({"search[tea]", "click[b000000007]", "click[features]", "search[lamp]"}),
            results);
}

TEST_F(WebShopTest, ASearchWithoutHitsShowsAnEmptyPage) {
  EXPECT_THAT(After({"search[zzzz]"}), EndsWith("Page 1 (Total results: 0) [SEP] Next >"));
  EXPECT_THAT(After({"search[ ]"}), EndsWith("Page 1 (Total results: 0) [SEP] Next >"));
  EXPECT_THAT(After({"search[zzzz]", "click[next >]"}),
              EndsWith("Page 2 (Total results: 0) [SEP] < Prev [SEP] Next >"));
}

TEST_F(WebShopTest, ListsWithoutASearch) {
  EXPECT_THAT(After({"search[<c> grocery]"}),
              AllOf(HasSubstr("(Total results: 4)"), HasSubstr("B000000007"),
                    HasSubstr("B000000008"), HasSubstr("B000000009"), HasSubstr("B00000000A")));
  EXPECT_THAT(After({"search[<c> grocery tea]"}), HasSubstr("(Total results: 4)")) << "one word";
  EXPECT_THAT(After({"search[<q> water bottle]"}), HasSubstr("(Total results: 2)"));
  EXPECT_THAT(After({"search[<a> leak proof]"}), HasSubstr("(Total results: 1)"));
  EXPECT_THAT(After({"search[<r>]"}), HasSubstr("(Total results: 10)"));
  EXPECT_EQ(After({"search[<r>]"}), After({"search[<r>]"}));
  for (const std::string words : {"<c>", "<q>", "<a>", "<c> none"}) {
    EXPECT_THAT(After({"search[" + words + "]"}), HasSubstr("(Total results: 0)")) << words;
  }
}

TEST_F(WebShopTest, OptionsAreKeptWithinAProduct) {
  const std::vector<std::string> chosen = {"search[<q> water bottle]", "click[b000000001]",
                                           "click[32 oz]", "click[red]"};
  const auto then = [&](const std::vector<std::string>& more) {
    auto actions = chosen;
    actions.insert(actions.end(), more.begin(), more.end());
    After(actions);
    return Chosen();
  };
  EXPECT_EQ(then({}), R"({"size": "32 oz", "color": "red"})") << "in the order of the clicks";
  EXPECT_EQ(then({"click[24 oz]"}), R"({"size": "24 oz", "color": "red"})");
  EXPECT_EQ(then({"click[description]", "click[< prev]"}), then({}));
  EXPECT_EQ(then({"click[< prev]"}), "{}");
  EXPECT_EQ(then({"click[back to search]"}), "{}");
  EXPECT_EQ(then({"search[lamp]"}), "{}");
}

TEST_F(WebShopTest, AChoiceDoesNotShowInTheText) {
  const std::string page = After({"search[<q> water bottle]", "click[b000000001]"});
  EXPECT_EQ(After({"search[<q> water bottle]", "click[b000000001]", "click[red]"}), page);
  EXPECT_THAT(PageHtml(shop_.PageOf(state_)), HasSubstr("value=\"red\" checked"));
}

TEST_F(WebShopTest, AValueOfTwoOptionsBelongsToTheLast) {
  After({"search[<c> fashion]", "click[b000000004]", "click[youth]"});
  EXPECT_EQ(Chosen(), R"({"color": "youth"})");
}

TEST_F(WebShopTest, AValueNamedLikeAButtonActsAsTheButton) {
  EXPECT_THAT(After({"search[costly]", "click[b000000005]", "click[description]"}),
              EndsWith("< Prev [SEP] Bright."));
  // Not so "next >", which only turns the pages of results.
  After({"search[costly]", "click[b000000005]", "click[next >]"});
  EXPECT_EQ(Chosen(), R"({"style": "next >"})");
}

TEST_F(WebShopTest, AfterThePurchaseNothingChanges) {
  const std::vector<std::string> bought = {"search[lamp]", "click[b000000005]", "click[buy now]"};
  const std::string done = After(bought);
  EXPECT_TRUE(state_.done);
  EXPECT_GE(state_.reward, 0);
  EXPECT_THAT(Clickable(), IsEmpty());
  for (const std::string action : {"search[tea]", "click[buy now]", "click[back to search]"}) {
    auto actions = bought;
    actions.push_back(action);
    EXPECT_EQ(After(actions), done);
    EXPECT_FALSE(state_.done);
    EXPECT_EQ(state_.reward, 0);
  }
}

TEST_F(WebShopTest, TheRewardIsThatOfRewardOf) {
  After({"search[<q> water bottle]", "click[b000000001]", "click[red]", "click[buy now]"});
  const ShopReward parts = shop_.Reward(state_);
  EXPECT_EQ(state_.reward, parts.reward);
  EXPECT_THAT(shop_.Observation(state_),
              HasSubstr("Your score (min 0.0, max 1.0) [SEP] " + fmt::format("{}", parts.reward)));
}

TEST_F(WebShopTest, AnswersToItsGoalsAreWorthOne) {
  for (size_t task_id = 0; task_id < shop_.task_count(); ++task_id) {
    const ShopGoals goals(shop_.catalogue(), false);
    const ShopGoal goal = goals.At(task_id);
    WebShopState state = shop_.Start(task_id);
    shop_.Step(state, "search[<c> " + std::string(goal.product->category) + "]");
    shop_.Step(state, "click[" + std::string(goal.product->asin) + "]");
    for (const GoalOption& option : goal.options) {
      shop_.Step(state, "click[" + std::string(option.value) + "]");
    }
    // A value like a button's name does something else, and a goal may want what its product lacks.
    const ShopReward parts = shop_.Reward(state);
    if (goal.product->asin == "B000000005" || parts.attributes_met < parts.attributes_wanted)
      continue;
    if (goal.product->asin == "B000000004") continue;  // both options have the value "youth"
    shop_.Step(state, "click[buy now]");
    EXPECT_EQ(state.reward, 1) << goal.text;
  }
}

// What the html shows is what the text and the clickables say, wherever random clicks lead.
TEST_F(WebShopTest, TextClickablesAndHtmlAgree) {
  RandomStream random(7);
  const std::vector<std::string> searches = {"search[bottle]", "search[<r>]", "search[tea lamp]",
                                             "search[x]"};
  for (int session = 0; session < 200; ++session) {
    WebShopState state = shop_.Start(random.Below(shop_.task_count()));
    for (int turn = 0; turn < 12; ++turn) {
      const ShopPage page = shop_.PageOf(state);
      const std::string html = PageHtml(page);
      ASSERT_EQ(testing::TextOfHtml(html), PageText(page));
      ASSERT_EQ(testing::ClickablesOfHtml(html), Clickables(page));
      ASSERT_EQ(html.find("id=\"search_input\"") != std::string::npos, page.has_search_bar);
      auto actions = Clickables(page);
      for (std::string& action : actions) action = "click[" + action + "]";
      actions.push_back(random.Pick(searches));
      shop_.Step(state, random.Pick(actions));
    }
  }
}

TEST_F(WebShopTest, TheSeedDecidesOnRangedPricesAndNothingElse) {
  const auto price = [](uint64_t seed) {
    return testing::SmallShop({.seed = seed}).catalogue().Find("B000000002")->price;
  };
  EXPECT_EQ(price(1), price(1));
  EXPECT_NE(price(1), price(2));
  EXPECT_GE(price(3), 10);
  EXPECT_LE(price(3), 30.5);
  EXPECT_EQ(testing::SmallShop({.seed = 2}).catalogue().Find("B000000001")->price, 19.99);
  EXPECT_NE(testing::SmallShop({.seed = 2}).data_hash(), shop_.data_hash());
}

}  // namespace
}  // namespace agentr
