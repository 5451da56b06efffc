#include "games/babyai_batch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "common/random.h"

namespace agentr {
namespace {

std::string Described(const BabyAiEpisodes& game) {
  std::string text;
  AppendDescription(game.View(), /*reference=*/false, text);
  return text;
}

// Each slot is the stream of its own seed and task, whatever the others do.
TEST(BabyAiBatch, SlotsAreStreamsOfTheirOwn) {
  BabyAiBatch batch({.size = 7, .seed = 3});
  std::vector<BabyAiEpisodes> alone;
  for (size_t i = 0; i < batch.size(); ++i) {
    alone.emplace_back(BabyAiLevelOf("MixedTrainLocal"), static_cast<BabyAiTask>(i % 5), 300 + i);
  }
  RandomStream random(1);
  int ended = 0;
  int truncated = 0;
  for (int turn = 0; turn < 400; ++turn) {
    std::vector<std::string_view> actions;
    for (size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(batch.Goal(i), alone[i].mission());
      EXPECT_EQ(batch.Observation(i), Described(alone[i]));
      actions.push_back(random.Pick(batch.actions()));
    }
    const std::span<const BatchStep> steps = batch.Step(actions);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto at = std::ranges::find(batch.actions(), actions[i]);
      const double reward = alone[i].Step(static_cast<BabyAiAction>(at - batch.actions().begin()));
      ASSERT_EQ(steps[i].observation, Described(alone[i]));
      EXPECT_EQ(steps[i].reward, reward);
      ASSERT_EQ(steps[i].done, alone[i].done());
      EXPECT_EQ(steps[i].truncated, alone[i].truncated());
      truncated += steps[i].truncated ? 1 : 0;
      if (!alone[i].done()) continue;
      ++ended;
      alone[i].Next();
    }
  }
  EXPECT_GT(truncated, 5);
  EXPECT_GT(ended, truncated);
}

TEST(BabyAiBatch, AsManyObjectsLieAboutAsWanted) {
  const auto objects = [](const BabyAiBatchOptions& options) {
    return BabyAiBatch(options).game(0).world().objects().size();
  };
  EXPECT_EQ(objects({.size = 1, .level = "GoToLocal"}), 8u);
  for (const int count : {2, 3, 9}) {
    EXPECT_EQ(objects({.size = 1, .level = "GoToLocal", .distractors = count}),
              static_cast<size_t>(count));
    EXPECT_EQ(objects({.size = 1, .task = "putnext", .distractors = count}),
              static_cast<size_t>(count));
    // The door and its key besides.
    EXPECT_EQ(objects({.size = 1, .task = "open", .distractors = count}),
              static_cast<size_t>(count) + 2);
  }
  EXPECT_THROW(objects({.size = 1, .distractors = 1}), FatalError);
  EXPECT_THROW(objects({.size = 1, .distractors = 10}), FatalError);
}

TEST(BabyAiBatch, WhatIsNoActionCostsNoStep) {
  BabyAiBatch batch({.size = 1});
  const BabyAiEpisodes before = batch.game(0);
  const std::vector<std::string_view> actions = {"fly"};
  const BatchStep step = batch.Step(actions)[0];
  EXPECT_EQ(step.observation, "");
  EXPECT_FALSE(step.done);
  EXPECT_EQ(batch.game(0), before);
}

}  // namespace
}  // namespace agentr
