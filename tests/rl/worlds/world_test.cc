// The worlds of agent_rl: prompts, rewards and scripted players.
#include "rl/worlds/world.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/file.h"
#include "games/questions/word_table.h"
#include "rl/worlds/echo_batch.h"
#include "rl/worlds/prompt_changes.h"

namespace agentr {
namespace {

// Takes the action choose(slot) in every slot.
template <typename Choose>
std::span<const BatchStep> StepAll(World& world, const Choose& choose) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < world.size(); ++i) texts.push_back(choose(i));
  return world.Step(std::vector<std::string_view>(texts.begin(), texts.end()));
}

// Plays `episodes` episodes in each slot; returns the mean of their returns.
template <typename Choose>
double MeanReturn(World& world, int episodes, const Choose& choose) {
  std::vector<int> finished(world.size());
  double total = 0;
  while (std::ranges::min(finished) < episodes) {
    const auto steps = StepAll(world, choose);
    for (size_t i = 0; i < world.size(); ++i) {
      if (finished[i] == episodes) continue;
      total += steps[i].reward;
      finished[i] += steps[i].done ? 1 : 0;
    }
  }
  return total / static_cast<double>(world.size() * static_cast<size_t>(episodes));
}

// One slot for each kind of mission, with the seeds 100, 101, …, as the goldens have.
TEST(World, BabyAiPromptsAreGlams) {
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/glam_prompts.json"));
  const auto world =
      MakeWorld({.environments = 5, .level = "MixedTrainLocal", .reference = true}, /*seed=*/1);
  ASSERT_EQ(golden.size(), 5u);
  size_t compared = 0;
  for (size_t t = 0; t < 12; ++t) {
    std::vector<std::string_view> actions;
    for (size_t i = 0; i < 5; ++i) {
      const auto& episode = golden[i];
      EXPECT_EQ(episode["seed"], 100 + i);
      const bool goes_on = t < episode["actions"].size();
      if (goes_on) {
        EXPECT_EQ(world->Prompt(i), episode["prompts"][t].get<std::string>());
        ++compared;
      }
      actions.push_back(world->actions()[goes_on ? episode["actions"][t].get<size_t>() : 0]);
    }
    world->Step(actions);
  }
  EXPECT_EQ(compared, 37u);
}

TEST(World, ExpertsDoWell) {
  for (const auto& [name, task] : kWorldNames) {
    const WorldOptions options = {.task = task, .environments = 20};
    const auto expert = MakeWorld(options, 3), random = MakeWorld(options, 3);
    RandomStream stream(1);
    const double good = MeanReturn(*expert, 2, [&](size_t i) { return expert->Expert(i); });
    const double any =
        MeanReturn(*random, 2, [&](size_t i) { return random->AnyAction(i, stream); });
    switch (task) {
      case WorldKind::kBabyAi:  // bot 0.92, random 0.19: the sheet's table
        EXPECT_GT(good, 0.85) << name;
        EXPECT_LT(any, 0.35) << name;
        break;
      case WorldKind::kTwentyQuestions:
        EXPECT_GT(good, -10) << name;
        EXPECT_LT(any, -18) << name;
        break;
      case WorldKind::kGuessMyCity:
        EXPECT_GT(good, -8) << name;
        EXPECT_LT(any, -17) << name;
        break;
      case WorldKind::kWebShop:
        EXPECT_GT(good, 0.6) << name;
        EXPECT_LT(any, 0.3) << name;
        break;
      case WorldKind::kEcho:  // -2, and about -7.1
        EXPECT_EQ(good, -2) << name;
        EXPECT_NEAR(any, -7.1, 0.5) << name;
        break;
      case WorldKind::kEchoListed:
        EXPECT_NEAR(good, 1 - 0.9 * 3 / 8, 1e-9) << name;
        EXPECT_LT(any, 0.35) << name;
        break;
    }
  }
}

TEST(World, PromptsOfTheTestsOfGeneralisation) {
  const std::string prompt = "Goal of the agent: go to the red ball \n You see a grey key, a ball";
  EXPECT_EQ(ChangedPrompt(prompt, "none"), prompt);
  EXPECT_EQ(ChangedPrompt(prompt, "made_up_words"),
            "Goal of the agent: go to the faze xolo \n You see a sil dax, a xolo");
  EXPECT_EQ(ChangedPrompt(prompt, "first_person_agent"),
            "You have to: go to the red ball \n You see a grey key, a ball");
  const WorldOptions options = {.environments = 3};
  const auto plain = MakeWorld(options, 3);
  const auto changed = WithChangedPrompts(MakeWorld(options, 3), "synonyms");
  EXPECT_EQ(changed->Prompt(2), ChangedPrompt(plain->Prompt(2), "synonyms"));
  EXPECT_NE(changed->Prompt(2), plain->Prompt(2));
  EXPECT_EQ(changed->Expert(2), plain->Expert(2));
}

// It takes three or four questions to tell ten objects apart.
TEST(World, ThePlayerOfTheSubsetKnowsItsObjects) {
  const auto world =
      MakeWorld({.task = WorldKind::kTwentyQuestions, .environments = 40, .subset = true}, 3);
  EXPECT_GT(MeanReturn(*world, 2, [&](size_t i) { return world->Expert(i); }), -4.5);
  std::set<std::string> names;
  RandomStream random(1);
  for (int i = 0; i < 400; ++i) {
    const std::string question = world->AnyAction(0, random);
    const std::string name = question.substr(question.rfind(' ') + 1);
    if (WordTable::BuiltIn().Find(name.substr(0, name.size() - 1))) names.insert(name);
  }
  EXPECT_LE(names.size(), 12u) << "the ten, and properties that end like an object";
}

// And random actions, any of them, not only those that the page shows, are never invalid.
TEST(World, APurchaseInWebShopWinsOnlyWithTheFullReward) {
  const WorldOptions options = {.task = WorldKind::kWebShop, .environments = 8};
  const auto world = WithChangedPrompts(MakeWorld(options, 3), "none");
  RandomStream random(2);
  int poor = 0;  // purchases
  for (int turn = 0; turn < 100; ++turn) {
    const auto any = [&](size_t i) { return world->AnyAction(i, random); };
    for (const BatchStep& step : StepAll(*world, any)) {
      EXPECT_EQ(step.observation.find("Invalid action!"), std::string_view::npos)
          << step.observation;
      if (!step.done) continue;
      EXPECT_EQ(world->Won(step), step.reward > 0.999);
      poor += !step.truncated && step.reward < 1 ? 1 : 0;
    }
  }
  EXPECT_GT(poor, 0);
  const auto echo = MakeWorld({.task = WorldKind::kEcho}, 3);
  EXPECT_TRUE(echo->Won({.observation = "", .reward = -1, .done = true}));
  EXPECT_FALSE(echo->Won({.observation = "", .done = true, .truncated = true}));
}

// Otherwise a policy could avoid the cost of questions by silence.
TEST(World, SilenceCostsAQuestion) {
  const auto world = MakeWorld({.task = WorldKind::kTwentyQuestions, .environments = 2}, 3);
  const std::vector<std::string_view> silence = {"", "wait"};
  for (int turn = 0; turn < 20; ++turn) {
    for (const BatchStep& step : world->Step(silence)) {
      EXPECT_EQ(step.reward, -1);
      EXPECT_EQ(step.done, turn == 19);
    }
  }
}

TEST(World, EchoMarksAnswers) {
  EchoBatch batch({.size = 1, .seed = 2});
  const std::string digit(batch.Observation(0));
  const std::string wrong = digit == "0" ? "g1" : "g0";
  const auto take = [&](std::string_view action) { return batch.Step({&action, 1})[0]; };
  EXPECT_EQ(take(wrong).observation, digit + " " + wrong + " - " + digit);
  EXPECT_EQ(take("nonsense").reward, -1);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(take(batch.right(0)).done);
  const BatchStep last = take(batch.right(0));
  EXPECT_TRUE(last.done);
  EXPECT_FALSE(last.truncated);
  EXPECT_EQ(last.reward, 0);
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(take("nonsense").done);
  EXPECT_TRUE(take("nonsense").truncated);
}

}  // namespace
}  // namespace agentr
