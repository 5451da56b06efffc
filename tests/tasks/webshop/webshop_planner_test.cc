#include "tasks/webshop/webshop_planner.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tasks/scripted_model.h"
#include "tasks/webshop/webshop_family.h"
#include "tasks/webshop/webshop_mistakes.h"
#include "tests/clients/expect_error.h"
#include "tests/tasks/scripted_samples.h"
#include "tests/tasks/small_webshop.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<LanguageModel> WebShopPlanner(double error_rate) {
  return MakeScriptedModel("planner", WebShopFamily(), {.error_rate = error_rate});
}

// A conversation about goal `goal` of the small shop.
std::vector<Message> WebShopConversation(size_t goal,
                                         const std::vector<std::string>& actions = {}) {
  const SmallWebShop shop(goal);
  return Conversation(WebShopFamily(), shop, shop.Page(), actions);
}

std::string WebShopPlan(const std::vector<Message>& conversation) {
  return PlanWebShop(ReadWebShop(conversation).value());
}

std::vector<std::string> WebShopActions(LanguageModel& model, const std::vector<Message>& prompt,
                                        int n, uint64_t seed) {
  return ActionsIn(WebShopFamily(), SampledTexts(model, prompt, n, seed));
}

PlayedEpisode PlayShop(LanguageModel& model, SmallWebShop& shop,
                       const PlayedOptions& options = {}) {
  return PlayEpisode(model, WebShopFamily(), shop, shop.Page(), options);
}

TEST(WebShopConversation, KnowsWhatWasOpenedAndChosen) {
  const auto messages =
      WebShopConversation(0, {"search[running shoes]", "click[b000000002]", "click[red]",
                              "click[description]", "click[< prev]", "click[black]", "click[9]"});
  const auto view = ReadWebShop(messages);
  EXPECT_EQ(view->searches, 1);
  EXPECT_EQ(view->page.kind, WebShopPageKind::kItem);
  ASSERT_EQ(view->looks.size(), 1u);
  EXPECT_EQ(view->looks[0].id, "b000000002");
  EXPECT_EQ(view->item, 0u);
  EXPECT_THAT(view->chosen, ElementsAre("black", "9")) << "one value per option";
}

TEST(WebShopConversation, GoingBackForgetsWhatWasChosen) {
  const auto messages = WebShopConversation(
      0, {"search[running shoes]", "click[b000000001]", "click[7]", "click[< prev]",
          "click[b000000002]", "click[< prev]", "click[b000000001]"});
  const auto view = ReadWebShop(messages);
  EXPECT_THAT(view->chosen, IsEmpty());
  EXPECT_EQ(view->looks.size(), 2u);
  EXPECT_EQ(view->item, 0u);
}

TEST(WebShopConversation, CountsTurnsWithoutEffect) {
  const auto messages = WebShopConversation(
      0, {"search[running shoes]", "click[b000000001]", "click[7]", "click[green]", "buy it"});
  EXPECT_EQ(ReadWebShop(messages)->wasted_turns, 2) << "an option is an effect out of sight";
  EXPECT_EQ(ReadWebShop(messages)->failed_action, "buy it");
}

TEST(WebShopConversation, OtherConversationsAreNone) {
  EXPECT_FALSE(ReadWebShop(std::vector<Message>{{"user", "Goal: craft stick."}}));
  EXPECT_FALSE(ReadWebShop(WebShopFamily().Instruction()));
}

TEST(WebShopPlanner, SearchesWithTheWordsThatMatter) {
  EXPECT_EQ(WebShopPlan(WebShopConversation(0)), "search[breathable running shoes women]");
  EXPECT_EQ(WebShopPlan(WebShopConversation(0, {"search[nothing]", "click[back to search]"})),
            "search[breathable running]")
      << "fewer words the next time";
}

TEST(WebShopPlanner, OpensTheBestResultThatItCanPay) {
  // B000000003 has as many of the words, but costs $240.
  EXPECT_EQ(WebShopPlan(WebShopConversation(0, {"search[gold label breathable running shoes]"})),
            "click[b000000001]");
}

TEST(WebShopPlanner, LeavesWhatLacksAnOption) {
  std::vector<std::string> actions = {"search[waterproof hiking trail backpack]"};
  for (const char* next :
       {"click[b000000006]", "click[< prev]", "click[b000000007]", "click[green]"}) {
    EXPECT_EQ(WebShopPlan(WebShopConversation(3, actions)), next);
    actions.emplace_back(next);
  }
  EXPECT_EQ(WebShopPlan(WebShopConversation(3, actions)), "click[buy now]");
}

TEST(WebShopPlanner, BuysTheBestOfWhatThereIs) {
  // Only shoes are found, none of them green.
  std::vector<Message> messages = WebShopConversation(3, {"search[breathable]"});
  std::vector<std::string> opened;
  SmallWebShop shop(3);
  shop.Step("search[breathable]");
  std::string action;
  for (int turn = 0; turn < 12 && action != "click[buy now]"; ++turn) {
    action = WebShopPlan(messages);
    messages.push_back({"assistant", "Action: " + action});
    messages.push_back({"user", shop.Step(action).observation});
    if (action.starts_with("click[b00")) opened.push_back(action);
  }
  EXPECT_EQ(action, "click[buy now]") << "in the end it does not go round in circles";
  EXPECT_GE(opened.size(), 2u);
  EXPECT_LE(opened.size(), kMostLooks + 1);
}

TEST(WebShopPlanner, FindsItsWayOutOfAnyPage) {
  EXPECT_EQ(WebShopPlan(WebShopConversation(0, {"search[xyz]"})), "click[back to search]");
  EXPECT_EQ(WebShopPlan(WebShopConversation(0, {"search[mug]", "click[next >]"})), "click[< prev]");
  EXPECT_EQ(WebShopPlan(
                WebShopConversation(0, {"search[shoes]", "click[b000000001]", "click[features]"})),
            "click[< prev]");
}

TEST(WebShopPlannerModel, WithoutMistakesBuysTheRightProduct) {
  const std::vector<size_t> fewest = {5, 3, 5, 6};
  const auto model = WebShopPlanner(0);
  for (size_t goal = 0; goal < SmallWebShop::Goals().size(); ++goal) {
    SmallWebShop shop(goal);
    const PlayedEpisode episode = PlayShop(*model, shop);
    EXPECT_EQ(shop.bought(), SmallWebShop::Goals()[goal].id) << goal;
    EXPECT_EQ(episode.reward, 1) << goal;
    EXPECT_EQ(episode.actions.size(), fewest[goal]) << goal;
  }
}

TEST(WebShopPlannerModel, EndsEvenWhenOldTurnsWereCut) {
  for (size_t goal = 0; goal < SmallWebShop::Goals().size(); ++goal) {
    SmallWebShop shop(goal);
    PlayShop(*WebShopPlanner(0), shop, {.keep_turns = 2});
    EXPECT_NE(shop.bought(), "") << goal;
  }
}

TEST(WebShopPlannerModel, SpreadsItsRewards) {
  const auto model = WebShopPlanner(ScriptedOptions().error_rate);
  std::map<double, int> rewards;
  for (size_t goal = 0; goal < 4; ++goal) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      SmallWebShop shop(goal);
      ++rewards[PlayShop(*model, shop, {.seed = seed}).reward];
    }
  }
  EXPECT_GT(rewards[1], 50);
  EXPECT_LT(rewards[1], 180);
  EXPECT_GE(rewards.size(), 5u) << "between nothing and all";
}

TEST(WebShopPlannerModel, ASampleDependsOnlyOnPromptSeedAndIndex) {
  ExpectSamplesOfSeedAndIndex(*WebShopPlanner(0.5), *WebShopPlanner(0.5),
                              WebShopConversation(0, {"search[running shoes]"}));
}

TEST(WebShopPlannerModel, ErrsAtItsRateAndGetsStuck) {
  const auto wrong = [](const std::vector<Message>& prompt) {
    const auto actions = WebShopActions(*WebShopPlanner(0.25), prompt, 2000, 7);
    return ShareWrong(actions, WebShopPlan(prompt));
  };
  const std::vector<std::string> idle = {"search[shoes]", "click[green]", "click[green]"};
  EXPECT_NEAR(wrong(WebShopConversation(0, {"search[shoes]"})), 0.25, 0.03);
  EXPECT_NEAR(wrong(WebShopConversation(0, idle)), 1 - 0.75 * 0.75 * 0.75 * 0.75 * 0.75, 0.03);
}

TEST(WebShopPlannerModel, RefusesWhatItCannotPlay) {
  const std::vector<Message> prompt = {{"user", "Goal: craft a."}};
  ExpectError(WebShopPlanner(0)->Complete(prompt, 1, {}), ErrorKind::kRejected, "WebShop");
}

TEST(WebShopRandomModel, ActsOnWhatItSees) {
  const auto model = MakeScriptedModel("random", WebShopFamily(), {});
  const auto actions = [&](const std::vector<std::string>& turns) {
    const auto all = WebShopActions(*model, WebShopConversation(0, turns), 300, 3);
    return std::set(all.begin(), all.end());
  };
  for (const std::string& action : actions({})) EXPECT_TRUE(action.starts_with("search["));
  const auto results = actions({"search[shoes]"});
  for (const char* action : {"click[b000000001]", "click[next >]", "click[back to search]"}) {
    EXPECT_TRUE(results.contains(action)) << action;
  }
  EXPECT_THAT(actions({"search[shoes]", "click[b000000003]"}),
              ElementsAre("click[7]", "click[< prev]", "click[buy now]", "click[description]",
                          "click[features]", "click[navy blue]", "click[reviews]"));
}

TEST(WebShopMistakes, AreManyAndNeverWhatWasMeant) {
  const std::vector<std::vector<std::string>> places = {
      {},
      {"search[shoes]"},
      {"search[shoes]", "click[b000000001]"},
      {"search[shoes]", "click[b000000001]", "click[7]", "click[navy blue]"},
      {"search[shoes]", "click[b000000001]", "click[features]"},
      {"search[shoes]", "click[b000000001]", "click[green]"}};
  for (const auto& place : places) {
    const auto messages = WebShopConversation(0, place);
    const auto view = ReadWebShop(messages);
    const std::string meant = PlanWebShop(*view);
    const auto mistakes =
        Drawn([&](RandomStream& random) { return WebShopMistake(*view, meant, random); });
    EXPECT_FALSE(mistakes.contains(meant));
    EXPECT_GE(mistakes.size(), 8u) << meant;
    EXPECT_EQ(mistakes.contains("click[green]"), !view->failed_action.empty());
  }
}

TEST(WebShopMistakes, OnAProductTheyBuyTooEarlyAndChooseWrongly) {
  const auto messages = WebShopConversation(0, {"search[shoes]", "click[b000000001]"});
  const auto view = ReadWebShop(messages);
  std::map<std::string, int> mistakes;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomStream random(seed);
    ++mistakes[WebShopMistake(*view, "click[navy blue]", random)];
  }
  EXPECT_GT(mistakes["click[buy now]"], 200);
  EXPECT_GT(mistakes["click[7]"], 100) << "the option after the next";
  EXPECT_GT(mistakes["click[white]"], 10);
  EXPECT_GT(mistakes["click[description]"], 30);
  EXPECT_GT(mistakes["click[checkout]"], 5);
  EXPECT_GT(mistakes["select[navy blue]"], 5);
}

}  // namespace
}  // namespace agentr
