#include "rollout/slips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rollout/episode_player.h"
#include "rollout/replay_executor.h"
#include "tasks/task_kinds.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/webshop/webshop_family.h"
#include "tests/mcts/toy_environment.h"
#include "tests/mcts/toy_model.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using TextList = std::vector<std::string>;

// Episodes in the toy world with slips. Change the fields before Play.
struct SlippingToy {
  SlippingToy() {
    options.max_steps = 10;
    options.temperature = 1;
    options.revision_action = "wait";
    options.slips.probability = 1;
    options.slips.kind = SlipKind::kPlausible;
  }

  Episode Play(int task_id = 1, int attempt = 0, std::vector<EpisodeTurn> given = {}) {
    ReplayExecutor executor(task_id, pool, family, stop);
    EpisodePlayer player(options, {task_id, attempt, std::move(given)},
                         {family, model, executor, stop});
    Episode episode = player.Run().value();
    episode.model_s = episode.environment_s = episode.wall_s = 0;
    return episode;
  }

  // The model says `first` in every turn, and `others` when it is asked for more than one response.
  void Say(const std::string& first, const TextList& others) {
    model.reply = [=](std::span<const Message>, int n) -> Result<TextList> {
      TextList texts;
      for (int i = 0; i < n; ++i) {
        texts.push_back(
            n == 1 ? ToyModel::Response(first)
                   : ToyModel::Response(others[static_cast<size_t>(i) % others.size()], 1));
      }
      return texts;
    };
  }

  ToyFamily family;
  ToyEnvironment world;
  ToyModel model{ToyActions()};
  SessionPool pool{world, 4};
  std::atomic<bool> stop = false;
  PlayOptions options;
};

std::vector<size_t> TurnsThatSlip(const Episode& episode) {
  std::vector<size_t> turns;
  for (size_t i = 0; i < episode.turns.size(); ++i) {
    if (episode.turns[i].slip || episode.turns[i].missed_slip) turns.push_back(i);
  }
  return turns;
}

TEST(SlipsTest, WithProbabilityZeroNothingSlipsAndNothingMoreIsAsked) {
  SlippingToy plain;
  plain.options.slips = {};
  SlippingToy toy;
  toy.options.slips.probability = 0;
  for (SlippingToy* each : {&plain, &toy}) each->Say("go a", {"go b"});
  EXPECT_EQ(toy.Play(), plain.Play());
  for (const EpisodeTurn& turn : toy.Play(2).turns) EXPECT_FALSE(turn.slip || turn.missed_slip);
  EXPECT_EQ(toy.model.prompts().size(), 20u);
  EXPECT_EQ(toy.world.counts.steps, 20);
}

TEST(SlipsTest, WithProbabilityOneEveryTurnSlips) {
  SlippingToy toy;
  toy.Say("go a", {"go a", "wait", "end 1", "go b"});
  const Episode episode = toy.Play();
  ASSERT_THAT(episode.turns, SizeIs(10));
  for (const EpisodeTurn& turn : episode.turns) {
    ASSERT_TRUE(turn.slip);
    EXPECT_EQ(turn.slip->said, "go a");
    EXPECT_EQ(turn.action, "go b") << "another action, no revision, and not the end";
    EXPECT_FALSE(turn.slip->lost);
  }
  EXPECT_EQ(episode.turns[1].observation, "task 1: go b go b");
}

TEST(SlipsTest, TheConversationShowsWhatWasDone) {
  SlippingToy toy;
  toy.Say("go a", {"go b"});
  toy.options.max_steps = 2;
  const Episode episode = toy.Play();
  EXPECT_EQ(episode.turns[0].response, ToyModel::Response("go b", 1));
  EXPECT_EQ(episode.turns[0].slip->response, ToyModel::Response("go a"));
  EXPECT_THAT(episode.turns[0].token_ids, SizeIs(2));
  EXPECT_EQ(toy.model.prompts().back()[3], (Message{"assistant", ToyModel::Response("go b", 1)}));
}

TEST(SlipsTest, TheConversationShowsWhatWasSaid) {
  SlippingToy toy;
  toy.Say("go a", {"go b"});
  toy.options.slips.shown = SlipShown::kSaid;
  toy.options.max_steps = 2;
  const Episode episode = toy.Play();
  EXPECT_EQ(episode.turns[0].action, "go b");
  EXPECT_EQ(episode.turns[0].response, ToyModel::Response("go a"));
  EXPECT_THAT(episode.turns[0].slip->response, IsEmpty());
  const std::vector<Message> last = toy.model.prompts().back();
  EXPECT_EQ(last[3], (Message{"assistant", ToyModel::Response("go a")}));
  EXPECT_EQ(last[4], (Message{"user", "task 1: go b"}));
}

TEST(SlipsTest, PlausibleSlipsAreSampledAtTemperatureOne) {
  SlippingToy toy;
  toy.options.temperature = 0;
  toy.options.max_steps = 1;
  toy.Say("go a", {"go a", "go b"});
  toy.Play();
  ASSERT_THAT(toy.model.samplings(), SizeIs(2));
  EXPECT_EQ(toy.model.samplings()[0].temperature, 0);
  EXPECT_EQ(toy.model.samplings()[1].temperature, 1);
}

TEST(SlipsTest, APolicyThatKnowsOneActionMissesItsSlips) {
  SlippingToy toy;
  toy.Say("go a", {"go a"});
  const Episode episode = toy.Play();
  for (const EpisodeTurn& turn : episode.turns) {
    EXPECT_FALSE(turn.slip);
    EXPECT_TRUE(turn.missed_slip);
    EXPECT_EQ(turn.action, "go a");
  }
}

TEST(SlipsTest, ALostActionNeverReachesTheEnvironment) {
  SlippingToy toy;
  toy.options.slips.kind = SlipKind::kLost;
  toy.Say("go a", {});
  const Episode episode = toy.Play();
  ASSERT_THAT(episode.turns, SizeIs(10));
  for (const EpisodeTurn& turn : episode.turns) {
    ASSERT_TRUE(turn.slip);
    EXPECT_TRUE(turn.slip->lost);
    EXPECT_EQ(turn.action, "go a");
    EXPECT_EQ(turn.observation, kNothingHappened);
    EXPECT_FALSE(turn.refused);
  }
  EXPECT_EQ(toy.world.counts.steps, 0);
}

TEST(SlipsTest, ARefusedSlipIsRefused) {
  SlippingToy toy;
  toy.options.slips.kind = SlipKind::kRefused;
  toy.options.max_steps = 3;
  toy.Say("a stuck", {});
  const Episode episode = toy.Play();
  for (const EpisodeTurn& turn : episode.turns) {
    ASSERT_TRUE(turn.slip);
    EXPECT_EQ(turn.action, "stuck a");
    EXPECT_TRUE(turn.refused);
    EXPECT_EQ(turn.response, "Thought: idea 0.\nAction: stuck a");
    EXPECT_THAT(turn.token_ids, IsEmpty()) << "nobody sampled this text";
  }
}

TEST(SlipsTest, RevisionTurnsDoNotSlip) {
  SlippingToy toy;
  toy.Say("wait", {"go b"});
  for (const EpisodeTurn& turn : toy.Play().turns) EXPECT_FALSE(turn.slip);
}

TEST(SlipsTest, ASlipIsUndoneWhereTheRewardIsAgainWhatItWas) {
  SlippingToy toy;
  toy.options.slips.probability = 0.5;
  toy.options.max_steps = 40;
  // The reward of this world is that of the last action: 0.5 as said, 0.25 by a slip.
  toy.Say("gain 0.5", {"gain 0.25"});
  const Episode episode = toy.Play();
  int undone = 0;
  for (size_t i = 1; i < episode.turns.size(); ++i) {
    const EpisodeTurn& at = episode.turns[i];
    if (!at.slip) continue;
    EXPECT_EQ(at.slip->changed_state, !episode.turns[i - 1].slip) << i;
    size_t right = i + 1;
    while (right < episode.turns.size() && episode.turns[right].slip) ++right;
    const bool undoes = at.slip->changed_state && right < episode.turns.size();
    EXPECT_EQ(at.slip->undone_after, undoes ? static_cast<int>(right - i) : 0) << i;
    undone += undoes;
  }
  EXPECT_GT(undone, 3);
}

TEST(SlipsTest, WhichTurnsSlipDependsOnSeedTaskAttemptAndTurnAlone) {
  SlippingToy toy;
  toy.options.max_steps = 60;
  const auto slips = [&](double probability, int task_id, int attempt, uint64_t seed,
                         const std::string& says) {
    toy.options.slips.probability = probability;
    toy.options.slips.kind = SlipKind::kLost;
    toy.options.seed = seed;
    toy.Say(says, {});
    return TurnsThatSlip(toy.Play(task_id, attempt));
  };
  const std::vector<size_t> some = slips(0.3, 1, 0, 0, "go a");
  EXPECT_GT(some.size(), 8u);
  EXPECT_LT(some.size(), 30u);
  EXPECT_EQ(slips(0.3, 1, 0, 0, "go b"), some);
  EXPECT_NE(slips(0.3, 2, 0, 0, "go a"), some);
  EXPECT_NE(slips(0.3, 1, 1, 0, "go a"), some);
  EXPECT_NE(slips(0.3, 1, 0, 1, "go a"), some);
  const std::vector<size_t> more = slips(0.6, 1, 0, 0, "go a");
  EXPECT_GT(more.size(), some.size());
  EXPECT_TRUE(std::ranges::includes(more, some)) << "the slips at 0.3 are among those at 0.6";
}

TEST(SlipsTest, GivenTurnsOfARevisionTestSlipAgainAsTheyDid) {
  SlippingToy toy;
  toy.options.slips.kind = SlipKind::kLost;
  toy.Say("go a", {});
  const Episode lost = toy.Play();
  toy.options.slips.probability = 0;
  const Episode again = toy.Play(1, 0, {lost.turns[0], lost.turns[1]});
  EXPECT_EQ(again.replayed_turns, 2u);
  EXPECT_EQ(again.replay_differences, 0u);
  EXPECT_EQ(again.turns[1].slip, lost.turns[1].slip);
  EXPECT_FALSE(again.turns[2].slip);
  EXPECT_EQ(again.turns[2].observation, "task 1: go a");
}

TEST(WithActionTest, KeepsTheThought) {
  const TextCraftFamily family;
  EXPECT_EQ(WithAction(family, "Thought: I need a stick.\nAction: get 1 stick", "get 1 stick",
                       "get 2 planks"),
            "Thought: I need a stick.\nAction: get 2 planks");
  EXPECT_EQ(WithAction(family, "Thought: I need a stick.\nAction: get 1 `stick`!", "get 1 stick",
                       "get 2 planks"),
            "Thought: I need a stick.\nAction: get 2 planks")
      << "the action was cleaned";
  EXPECT_EQ(WithAction(family, "", "", "get 2 planks"), "Action: get 2 planks");
  const WebShopFamily shop;
  EXPECT_EQ(
      WithAction(shop, "Thought: buy.\nAction: click[buy now]", "click[buy now]", "click[< Prev]"),
      "Thought: buy.\nAction: click[< Prev]");
}

TEST(CheckSlipsTest, RandomSlipsNeedActions) {
  for (const char* task : {"textcraft", "webshop", "babyai", "sciworld", "detective"}) {
    EXPECT_NO_THROW(CheckSlips({0.1, SlipKind::kRandom, SlipShown::kDone}, task)) << task;
  }
  RegisterTaskKind({.name = "toy_without_player", .title = "Toy", .family = [] {
                      return std::make_unique<ToyFamily>();
                    }});
  const std::string toy = "toy_without_player";
  EXPECT_THROW(CheckSlips({0.1, SlipKind::kRandom, SlipShown::kDone}, toy), FatalError);
  EXPECT_NO_THROW(CheckSlips({0.1, SlipKind::kLost, SlipShown::kDone}, toy));
  EXPECT_NO_THROW(CheckSlips({0, SlipKind::kRandom, SlipShown::kDone}, toy));
}

}  // namespace
}  // namespace agentr
