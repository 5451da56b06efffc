#include "tasks/textcraft/textcraft_planner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "tasks/scripted_model.h"
#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_mistakes.h"
#include "tests/clients/count_tokens.h"
#include "tests/clients/expect_error.h"
#include "tests/tasks/scripted_samples.h"
#include "tests/tasks/small_textcraft.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::unique_ptr<LanguageModel> TextCraftPlanner(double error_rate) {
  return MakeScriptedModel("planner", TextCraftFamily(), {.error_rate = error_rate});
}

// The beginning of a conversation about `goal` in the small world, and what was done since.
std::vector<Message> TextCraftConversation(const std::string& goal,
                                           const std::vector<std::string>& actions = {}) {
  const SmallTextCraft world(goal);
  return Conversation(TextCraftFamily(), world, world.FirstObservation(), actions);
}

std::vector<std::string> TextCraftPlan(const std::vector<Message>& conversation) {
  const auto view = ReadTextCraft(conversation);
  std::vector<std::string> plan;
  for (const TextCraftAction& action : PlanTextCraft(view.value())) {
    plan.push_back(ActionText(*view, action));
  }
  return plan;
}

std::vector<std::string> TextCraftActions(LanguageModel& model, const std::vector<Message>& prompt,
                                          int n, uint64_t seed) {
  return ActionsIn(TextCraftFamily(), SampledTexts(model, prompt, n, seed));
}

PlayedEpisode PlayTextCraft(LanguageModel& model, const std::string& goal,
                            const PlayedOptions& options = {}) {
  SmallTextCraft world(goal);
  return PlayEpisode(model, TextCraftFamily(), world, world.FirstObservation(), options);
}

int HeldOf(const TextCraftView& view, std::string_view name) {
  const auto at = std::find(view.names.begin(), view.names.end(), name);
  return view.held.at(static_cast<size_t>(at - view.names.begin()));
}

TEST(TextCraftConversation, ReadsCommandsAndGoal) {
  const std::vector<Message> messages = {
      {"user",
       "Crafting commands:\ncraft 4 oak planks using 1 oak logs\n"
       "craft 1 crafting table using 4 planks\n\nGoal: craft crafting table."}};
  const auto view = ReadTextCraft(messages);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->names, ElementsAre("oak planks", "oak logs", "crafting table", "planks"));
  EXPECT_EQ(view->goal, 2);
  ASSERT_EQ(view->commands.size(), 2u);
  EXPECT_EQ(view->commands[0].result, 0);
  EXPECT_EQ(view->commands[0].count, 4);
  ASSERT_EQ(view->commands[1].ingredients.size(), 1u);
  EXPECT_EQ(view->commands[1].ingredients[0].item, 3);
  EXPECT_EQ(view->commands[1].ingredients[0].count, 4);
}

TEST(TextCraftConversation, LineEndsMayHaveBecomeSpaces) {
  std::vector<Message> messages = TextCraftConversation("torch");
  const size_t commands = ReadTextCraft(messages)->commands.size();
  std::replace(messages.back().content.begin(), messages.back().content.end(), '\n', ' ');
  EXPECT_EQ(ReadTextCraft(messages)->commands.size(), commands);
  EXPECT_THAT(
      TextCraftPlan(messages),
      ElementsAre("get 1 coal", "get 1 oak logs", "craft 4 oak planks using 1 oak logs",
                  "craft 4 stick using 2 oak planks", "craft 4 torch using 1 coal, 1 stick"));
}

TEST(TextCraftConversation, KeepsTheInventory) {
  const auto messages = TextCraftConversation(
      "chest", {"get 2 oak logs", "craft 4 oak planks using 1 oak logs",
                "craft 9 stick using 2 oak planks", "get 3 planks", "get 1 coal"});
  const auto view = ReadTextCraft(messages);
  EXPECT_EQ(HeldOf(*view, "oak logs"), 1);
  EXPECT_EQ(HeldOf(*view, "oak planks"), 2);
  EXPECT_EQ(HeldOf(*view, "stick"), 4);
  EXPECT_EQ(HeldOf(*view, "coal"), 1);
  EXPECT_EQ(HeldOf(*view, "planks"), 0);
  EXPECT_EQ(view->failed_action, "get 3 planks");
  EXPECT_EQ(view->wasted_turns, 0);
}

TEST(TextCraftConversation, CountsTurnsThatChangedNothing) {
  const auto messages =
      TextCraftConversation("chest", {"get 1 coal", "get 1 planks", "inventory", "jump"});
  EXPECT_EQ(ReadTextCraft(messages)->wasted_turns, 3);
  EXPECT_EQ(ReadTextCraft(messages)->failed_action, "jump");
}

TEST(TextCraftConversation, AnInventoryCorrectsTheGuess) {
  auto messages =
      TextCraftConversation("chest", {"get 2 oak logs", "craft 4 oak planks using 1 oak logs"});
  messages.erase(messages.end() - 4, messages.end() - 2);  // the turn that brought the logs
  EXPECT_EQ(HeldOf(*ReadTextCraft(messages), "oak logs"), 0);
  messages.push_back({"assistant", "Action: inventory"});
  messages.push_back({"user", "Inventory: [oak logs] (1) [oak planks] (4) "});
  EXPECT_EQ(HeldOf(*ReadTextCraft(messages), "oak logs"), 1);
  EXPECT_EQ(HeldOf(*ReadTextCraft(messages), "oak planks"), 4);
  messages.push_back({"assistant", "Action: inventory"});
  messages.push_back({"user", "Inventory: You are not carrying anything."});
  EXPECT_EQ(HeldOf(*ReadTextCraft(messages), "oak planks"), 0);
}

TEST(TextCraftConversation, StandsOddNumbers) {
  std::vector<Message> messages = {
      {"user", "Crafting commands:\ncraft 0 a using 1 b, , 3\ncraft 9 . using\n\nGoal: craft a."}};
  for (int i = 0; i < 3; ++i) {
    messages.push_back({"assistant", "Action: get 2147483647 b"});
    messages.push_back({"user", "Got 2147483647 b"});
  }
  messages.push_back({"user", "Got nothing to answer"});
  EXPECT_GT(HeldOf(*ReadTextCraft(messages), "b"), 0);
  EXPECT_THAT(TextCraftPlan(messages), Not(IsEmpty()));
}

TEST(TextCraftConversation, OtherConversationsAreNone) {
  const std::vector<Message> messages = {{"user", "Buy a blue shirt."}};
  EXPECT_FALSE(ReadTextCraft(messages));
  EXPECT_FALSE(ReadTextCraft(TextCraftFamily().Instruction()));
}

TEST(TextCraftPlanner, MergesEqualItemsAndSharesLeftovers) {
  // 3 planks for the head and 2 for the sticks come out of two logs, picked up at once.
  EXPECT_THAT(TextCraftPlan(TextCraftConversation("wooden pickaxe")),
              ElementsAre("get 2 oak logs", "craft 4 oak planks using 1 oak logs",
                          "craft 4 oak planks using 1 oak logs", "craft 4 stick using 2 oak planks",
                          "craft 1 wooden pickaxe using 3 oak planks, 2 stick"));
}

TEST(TextCraftPlanner, PrefersTheCommandThatYieldsMore) {
  EXPECT_THAT(TextCraftPlan(TextCraftConversation("minecart")),
              ElementsAre("get 1 iron block", "craft 9 iron ingot using 1 iron block",
                          "craft 1 minecart using 5 iron ingot"));
}

TEST(TextCraftPlanner, GoesOnWithWhatItHolds) {
  EXPECT_THAT(
      TextCraftPlan(TextCraftConversation("stick", {"get 1 birch logs"})),
      ElementsAre("craft 4 birch planks using 1 birch logs", "craft 4 stick using 2 birch planks"));
}

TEST(TextCraftPlanner, AnItemIsNoKindOfWhatIsMadeOfIt) {
  EXPECT_THAT(TextCraftPlan(TextCraftConversation("polished basalt")),
              ElementsAre("get 4 basalt", "craft 4 polished basalt using 4 basalt"));
}

TEST(TextCraftPlanner, NorIfThatIsOnlyADistractor) {
  const std::vector<Message> messages = {
      {"user",
       "Crafting commands:\ncraft 4 polished basalt using 4 basalt\n"
       "craft 1 lamp using 2 basalt\n\nGoal: craft lamp."}};
  EXPECT_THAT(TextCraftPlan(messages), ElementsAre("get 2 basalt", "craft 1 lamp using 2 basalt"));
}

TEST(TextCraftPlanner, TakesAnItemAndWhatIsMadeOfItTogether) {
  const std::vector<Message> messages = {
      {"user",
       "Crafting commands:\ncraft 1 lamp using 1 basalt, 1 polished basalt\n"
       "craft 1 smooth basalt using 1 plate\ncraft 1 plate using 1 polished basalt\n"
       "craft 4 polished basalt using 4 basalt\n\nGoal: craft lamp."}};
  EXPECT_THAT(TextCraftPlan(messages),
              ElementsAre("get 5 basalt", "craft 4 polished basalt using 4 basalt",
                          "craft 1 lamp using 1 basalt, 1 polished basalt"));
}

TEST(TextCraftPlanner, NeverPicksUpWhatCommandsMake) {
  // Each takes the other: there is no way in.
  const std::vector<Message> messages = {
      {"user",
       "Crafting commands:\ncraft 1 ingot using 1 block\ncraft 1 block using 1 ingot\n\n"
       "Goal: craft ingot."}};
  EXPECT_THAT(TextCraftPlan(messages), IsEmpty());
}

TEST(TextCraftPlanner, CraftsTheGoalEvenIfItLiesAround) {
  // A goal in the hands was crafted in an earlier turn; the game went on all the same.
  const auto done = TextCraftConversation(
      "oak planks", {"get 1 oak logs", "craft 4 oak planks using 1 oak logs"});
  EXPECT_THAT(TextCraftPlan(done),
              ElementsAre("get 1 oak logs", "craft 4 oak planks using 1 oak logs"));
}

TEST(TextCraftPlanner, NoWayNoPlan) {
  const std::vector<Message> messages = {
      {"user", "Crafting commands:\ncraft 1 a using 1 b\n\nGoal: craft c."}};
  EXPECT_THAT(TextCraftPlan(messages), IsEmpty());
  EXPECT_THAT(TextCraftActions(*TextCraftPlanner(0), messages, 1, 1), ElementsAre("inventory"));
}

TEST(PlannerModel, WithoutMistakesSolvesEveryTaskInTheFewestSteps) {
  const std::map<std::string, size_t> fewest = {
      {"birch planks", 2},   {"chest", 4},      {"chest minecart", 8},  {"iron ingot", 2},
      {"minecart", 3},       {"oak planks", 2}, {"polished basalt", 2}, {"rail", 6},
      {"stick", 3},          {"torch", 5},      {"white bed", 7},       {"white wool", 2},
      {"wooden pickaxe", 5}, {"black wool", 4}, {"painting", 10}};  // one of them to learn of wool
  const auto model = TextCraftPlanner(0);
  for (const std::string& goal : SmallTextCraft::Goals()) {
    const PlayedEpisode episode = PlayTextCraft(*model, goal);
    EXPECT_EQ(episode.reward, 1) << goal;
    EXPECT_EQ(episode.actions.size(), fewest.at(goal)) << goal;
  }
}

TEST(PlannerModel, SolvesEvenWhenOldTurnsWereCut) {
  for (const char* goal : {"wooden pickaxe", "minecart", "torch"}) {
    EXPECT_EQ(PlayTextCraft(*TextCraftPlanner(0), goal, {.keep_turns = 4}).reward, 1) << goal;
  }
}

TEST(PlannerModel, ErrsAtItsRate) {
  const auto prompt = TextCraftConversation("chest");
  for (const double rate : {0.1, 0.25, 0.6}) {
    const auto actions = TextCraftActions(*TextCraftPlanner(rate), prompt, 4000, 7);
    EXPECT_NEAR(ShareWrong(actions, "get 2 oak logs"), rate, 0.03);
  }
}

TEST(PlannerModel, GetsStuckAfterFailures) {
  const auto prompt =
      TextCraftConversation("chest", {"get 3 planks", "get 1 chest", "get 3 planks"});
  const auto actions = TextCraftActions(*TextCraftPlanner(0.25), prompt, 1000, 7);
  EXPECT_GT(ShareWrong(actions, "get 2 oak logs"), 0.8);
  EXPECT_GT(std::ranges::count(actions, "get 3 planks"), 300);
}

TEST(PlannerModel, ASampleDependsOnlyOnPromptSeedAndIndex) {
  ExpectSamplesOfSeedAndIndex(*TextCraftPlanner(0.5), *TextCraftPlanner(0.5),
                              TextCraftConversation("chest"));
}

double Distinct(const std::vector<std::string>& texts) {
  return static_cast<double>(std::set(texts.begin(), texts.end()).size());
}

TEST(PlannerModel, SamplesDifferInTextWhileActionsAgree) {
  const auto prompt = TextCraftConversation("chest", {"get 2 oak logs"});
  const auto model = TextCraftPlanner(ScriptedOptions().error_rate);
  double texts = 0;
  double actions = 0;
  double bytes = 0;
  constexpr int kRequests = 500;
  for (uint64_t seed = 0; seed < kRequests; ++seed) {
    const auto samples = SampledTexts(*model, prompt, 4, seed);
    for (const std::string& text : samples) bytes += static_cast<double>(text.size()) / 4;
    actions += Distinct(ActionsIn(TextCraftFamily(), samples));
    texts += Distinct(samples);
  }
  EXPECT_GE(texts / kRequests, 3.5);
  EXPECT_LE(actions / kRequests, 2.2);
  EXPECT_LE(bytes / kRequests, 170);
}

TEST(PlannerModel, ByDefaultBothSucceedsAndFails) {
  const auto model = TextCraftPlanner(ScriptedOptions().error_rate);
  int solved = 0;
  int episodes = 0;
  for (const std::string& goal : SmallTextCraft::Goals()) {
    for (uint64_t seed = 1; seed <= 20; ++seed, ++episodes) {
      const PlayedEpisode episode = PlayTextCraft(*model, goal, {.seed = seed});
      if (episode.reward == 1)
        ++solved;
      else
        EXPECT_EQ(episode.actions.size(), 20u);
    }
  }
  EXPECT_GT(solved, episodes * 4 / 10);
  EXPECT_LT(solved, episodes * 9 / 10);
}

TEST(PlannerModel, CountsWhatARequestCost) {
  const auto prompt = TextCraftConversation("chest");
  const auto model = TextCraftPlanner(0);
  const auto batch = model->Complete(prompt, 4, {}).value();
  EXPECT_EQ(batch.usage.requests, 1);
  EXPECT_EQ(batch.usage.prompt_tokens, CountTokens(*model, prompt));
  EXPECT_GE(batch.usage.completion_tokens, 4 * 10);
  EXPECT_EQ(batch.completions.at(3).finish_reason, "stop");
}

TEST(RandomModel, ActsOnWhatItSees) {
  const auto model = MakeScriptedModel("random", TextCraftFamily(), {});
  const auto actions = TextCraftActions(*model, TextCraftConversation("torch"), 300, 3);
  EXPECT_THAT(actions,
              IsSupersetOf({"inventory", "get 1 coal", "craft 4 torch using 1 coal, 1 stick"}));
  for (const std::string& action : actions) {
    EXPECT_TRUE(action.starts_with("get ") || action.starts_with("craft ") || action == "inventory")
        << action;
  }
}

TEST(RandomModel, SolvesAnEasyTaskNowAndThen) {
  const auto model = MakeScriptedModel("random", TextCraftFamily(), {});
  int solved = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    if (PlayTextCraft(*model, "oak planks", {.seed = seed}).reward == 1) ++solved;
  }
  EXPECT_GT(solved, 2);
  EXPECT_LT(solved, 60);
}

TEST(ScriptedModel, RefusesWhatItCannotPlay) {
  const std::vector<Message> prompt = {{"user", "Buy a blue shirt."}};
  ExpectError(TextCraftPlanner(0)->Complete(prompt, 1, {}), ErrorKind::kRejected, "TextCraft");
  EXPECT_EQ(MakeScriptedModel("llama", TextCraftFamily(), {}), nullptr);

  class Chess : public TextCraftFamily {
    std::string_view name() const override { return "chess"; }
  };
  EXPECT_THROW(MakeScriptedModel("planner", Chess(), {}), FatalError);
}

TEST(Mistakes, AreNeverWhatWasMeant) {
  const auto messages = TextCraftConversation("torch", {"get 1 torch"});
  const auto view = ReadTextCraft(messages);
  const auto plan = PlanTextCraft(*view);
  ASSERT_FALSE(plan.empty());
  for (const TextCraftAction& meant : plan) {
    const auto mistakes =
        Drawn([&](RandomStream& random) { return TextCraftMistake(*view, meant, random); });
    EXPECT_FALSE(mistakes.contains(ActionText(*view, meant)));
    EXPECT_TRUE(mistakes.contains("get 1 torch"));  // the refused action once more
    EXPECT_TRUE(mistakes.contains("inventory"));
    EXPECT_GE(mistakes.size(), 12u);
  }
}

}  // namespace
}  // namespace agentr
