// The baseline without language on BabyAI: what it sees, and that it learns from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/options.h"
#include "lm/weights/safetensors.h"
#include "rl/agent_rl.h"
#include "rl/worlds/symbolic_state.h"
#include "tests/cli/program.h"

namespace agentr {
namespace {

using at::Tensor;

// The number "TCS" of a cell of an image: type, colour, state.
int CodeAt(const Tensor& image, int column, int row) {
  const Tensor cell = image.select(1, column).select(1, row);
  return 100 * cell[0].item<int>() + 10 * cell[1].item<int>() + cell[2].item<int>();
}

// A room with the agent at (2, 5), which looks up. Column 3 of row 6 of the image is its own cell.
TEST(SymbolicState, TheImageHasTheCodesOfMiniGrid) {
  BabyAiWorld world;
  world.Add({2, 3}, {GridType::kBall, GridColor::kBlue});
  world.Add({4, 5}, {GridType::kBox, GridColor::kPurple});
  world.Add({1, 1}, {GridType::kDoor, GridColor::kYellow, DoorState::kLocked});
  world.Add({2, 4}, {GridType::kKey, GridColor::kGrey});
  world.PlaceAgent({2, 5}, 3);
  Tensor image = SymbolicImage(BabyAiView(world));
  ASSERT_EQ(image.sizes(), at::IntArrayRef({3, 7, 7}));
  EXPECT_EQ(CodeAt(image, 3, 6), 100) << "an empty hand";
  EXPECT_EQ(CodeAt(image, 3, 5), 550) << "a grey key one step ahead";
  EXPECT_EQ(CodeAt(image, 3, 4), 620) << "a blue ball two steps ahead";
  EXPECT_EQ(CodeAt(image, 5, 6), 730) << "a purple box two steps to the right";
  EXPECT_EQ(CodeAt(image, 2, 2), 442) << "a locked yellow door, one to the left and four ahead";
  EXPECT_EQ(CodeAt(image, 1, 6), 250) << "the left wall";
  EXPECT_EQ(CodeAt(image, 4, 1), 250) << "the far wall";
  EXPECT_EQ(CodeAt(image, 0, 6), 0) << "what is behind the wall is unseen";
  EXPECT_EQ(CodeAt(image, 3, 0), 0);
  world.Act(BabyAiAction::kPickUp);
  image = SymbolicImage(BabyAiView(world));
  EXPECT_EQ(CodeAt(image, 3, 6), 550) << "the key in the hand";
  EXPECT_EQ(CodeAt(image, 3, 5), 100);
}

// The first view of each stream, as recorded from the original.
TEST(SymbolicState, ImagesAreTheRecordedOnes) {
  int compared = 0;
  for (const nlohmann::json& golden :
       ReadRows(AGENTR_SOURCE_DIR "/tests/golden/rl/babyai_episodes.jsonl")) {
    const std::string task = golden["task"];
    if (golden["episode_index"] != 0 || task.empty() || task.starts_with("pick up seq")) continue;
    const BabyAiLevel& level = BabyAiLevelOf(golden["level"].get<std::string>());
    const BabyAiEpisodes game(level, BabyAiTaskOf(task), golden["seed"].get<uint64_t>());
    const Tensor image = SymbolicImage(game.View());
    for (int row = 0; row < 7; ++row) {
      const std::string cells = golden["view"][static_cast<size_t>(row)];
      for (int column = 0; column < 7; ++column) {
        EXPECT_EQ(CodeAt(image, column, row),
                  std::stoi(cells.substr(static_cast<size_t>(4 * column), 3)));
      }
    }
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

TEST(SymbolicState, WordsAreNumberedAtFirstSight) {
  MissionWords words(7);
  EXPECT_EQ(words.Ids("go to the red ball"), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(words.Ids("go to a ball, the red"), (std::vector<int64_t>{1, 2, 6, 5, 3, 4}));
  MissionWords more(7);
  more.set_seen(words.seen());
  EXPECT_EQ(more.Ids("box"), (std::vector<int64_t>{7}));
  EXPECT_THROW(more.Ids("key"), FatalError);
}

class SymbolicPpoRun : public ::testing::Test {
 protected:
  SymbolicPpoRun() {
    o_.output_dir = folder_.path().string();
    o_.algorithm = &MakeSymbolicPpo;
    o_.threads = 1;
    o_.world.environments = 8;
    o_.world.distractors = 2;
    o_.world.reward_scale = 20;
    o_.experience.steps = 16;
    o_.experience.batch = 32;
    o_.ppo.recurrence = 8;
    o_.ppo.epochs = 2;
    o_.iterations = 3;
    o_.eval_episodes = 8;
    o_.schedule = {1e-4, "constant", 0, 0};
    o_.adamw.max_norm = 0.5;
  }

  // The lines of metrics.jsonl.
  std::vector<nlohmann::json> Run(const std::string& name) {
    o_.name = name;
    const OptionSet set("agent_rl", "");
    EXPECT_EQ(AgentRl(o_, set), ExitCode::kOk);
    return ReadRows(RlFolder(o_) / "metrics.jsonl");
  }

  ScratchFolder folder_;
  AgentRlOptions o_;
};

TEST_F(SymbolicPpoRun, LearnsWithFiniteNumbersAndSavesItsState) {
  int learned = 0;
  for (const nlohmann::json& line : Run("a")) {
    if (!line.contains("train")) continue;
    for (const auto& [name, value] : line["train"].items()) {
      EXPECT_TRUE(value.is_number() && std::isfinite(value.get<double>())) << name;
    }
    EXPECT_EQ(line["train"]["steps"], 8) << "16 pieces, four at once, twice";
    EXPECT_GT(line["train"]["gradient_norm"], 0);
    EXPECT_EQ(line["transitions"], 128 * ++learned);
  }
  EXPECT_EQ(learned, 3);
  // What goes on beside the weights is in the checkpoint, and not as it began.
  const WeightFiles saved(RlFolder(o_) / "checkpoints/step-00000003/weights.safetensors");
  for (const char* name :
       {"memory", "image_norm.0.running_mean", "film.1.second_norm.running_mean"}) {
    const auto found = saved.weights().find(name);
    ASSERT_NE(found, saved.weights().end()) << name;
    EXPECT_FALSE(std::ranges::all_of(found->second.data, [](std::byte b) {
      return b == std::byte();
    })) << name;
  }
}

// Neither memory nor running averages nor the numbers of words: what is played stays the same.
TEST_F(SymbolicPpoRun, EvaluationsChangeNothing) {
  o_.eval_every = 0;
  o_.eval_episodes = 0;
  Run("without");
  const auto weights = [&] {
    return ReadFile(RlFolder(o_) / "checkpoints/step-00000003/weights.safetensors");
  };
  const std::string without = weights();
  const std::string played = ReadFile(RlFolder(o_) / "transitions.bin");
  o_.eval_every = 1;
  o_.eval_episodes = 8;
  Run("with");
  EXPECT_TRUE(weights() == without);
  EXPECT_TRUE(ReadFile(RlFolder(o_) / "transitions.bin") == played);
}

// Before the first update step nothing has changed, so all ratios are 1: what is scored through the
// pieces, with the noted memory and its clearing, is what was played. All agents are in each step,
// as in play.
TEST_F(SymbolicPpoRun, WhatIsScoredIsWhatWasPlayed) {
  o_.iterations = 4;
  o_.experience.steps = 24;
  o_.ppo.recurrence = 24;
  o_.experience.batch = 192;
  o_.ppo.epochs = 1;
  int ended = 0;
  for (const nlohmann::json& line : Run("once")) {
    if (!line.contains("train")) continue;
    EXPECT_EQ(line["train"]["steps"], 1);
    ended += line["play"]["episodes"].get<int>();
    EXPECT_LT(std::abs(line["train"]["kl"].get<double>()), 1e-6);
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace agentr
