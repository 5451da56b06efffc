// The game against recorded episodes of the original, and its rules on hand-made worlds.
#include "servers/babyai/babyai_episodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Digits(GridCell cell) {
  return fmt::format("{}{}{}", static_cast<int>(cell.type()), static_cast<int>(cell.color()),
                     static_cast<int>(cell.state()));
}

// Rows of cells as the golden file writes them.
template <typename At>
json Rows(int width, int height, const At& at) {
  json rows = json::array();
  for (int y = 0; y < height; ++y) {
    std::string row;
    for (int x = 0; x < width; ++x) row += (x > 0 ? " " : "") + Digits(at(x, y));
    rows.push_back(row);
  }
  return rows;
}

json GridRows(const BabyAiWorld& world) {
  return Rows(world.grid().width(), world.grid().height(), [&](int x, int y) {
    return world.grid().At({x, y});
  });
}

BabyAiTask TaskOfGolden(const std::string& name) {
  if (name.empty()) return BabyAiTask::kGoTo;  // BabyAI's own levels have one kind of task
  return name.starts_with("pick up seq") ? BabyAiTask::kSequence : BabyAiTaskOf(name);
}

struct Replayed {
  int episodes = 0;
  int steps = 0;
};

// The state at the beginning of an episode.
void ExpectLayout(const BabyAiEpisodes& game, const json& golden) {
  EXPECT_EQ(game.mission(), golden.at("mission"));
  EXPECT_EQ(game.horizon(), golden.at("max_steps"));
  EXPECT_EQ(GridRows(game.world()), golden.at("grid"));
  EXPECT_EQ(json({game.world().agent().x, game.world().agent().y}), golden.at("agent_pos"));
  EXPECT_EQ(game.world().direction(), golden.at("agent_dir"));
  const BabyAiView view = game.View();
  EXPECT_EQ(Rows(7, 7, [&](int x, int y) { return view.At(x, y); }), golden.at("view"));
  EXPECT_EQ(json(DescribeView(view, /*reference=*/true)), golden.at("descriptions0"));
}

void ExpectSteps(BabyAiEpisodes& game, const json& golden, Replayed& replayed) {
  double sum = 0;
  for (const json& step : golden.at("steps")) {
    const double reward = game.Step(static_cast<BabyAiAction>(step.at(0).get<int>()));
    sum += reward;
    ASSERT_EQ(reward, step.at(1));
    ASSERT_EQ(game.done(), step.at(2));
    ASSERT_EQ(json(DescribeView(game.View(), true)), step.at(3)) << "step " << game.steps();
    ++replayed.steps;
  }
  EXPECT_EQ(sum, golden.at("return"));
  EXPECT_EQ(game.steps(), golden.at("n_steps"));
  EXPECT_EQ(GridRows(game.world()), golden.at("final_grid"));
  EXPECT_EQ(json({game.world().agent().x, game.world().agent().y, game.world().direction()}),
            golden.at("final_agent"));
  ++replayed.episodes;
}

// Replays the episodes of a file. Lines of the same level, task and seed follow one another and
// continue one stream.
Replayed ReplayGolden(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << "cannot read " << path;
  Replayed replayed;
  std::optional<BabyAiEpisodes> game;
  std::string stream;
  for (std::string line; std::getline(file, line);) {
    const json golden = json::parse(line);
    const std::string this_stream =
        fmt::format("{} {} {}", golden.at("level").get<std::string>(),
                    golden.at("task").get<std::string>(), golden.at("seed").get<uint64_t>());
    SCOPED_TRACE(fmt::format("{}, episode {} of {}", golden.at("id").dump(),
                             golden.at("episode_index").get<int>(), this_stream));
    if (this_stream == std::exchange(stream, this_stream)) {
      game->Next();
    } else {
      game.emplace(BabyAiLevelOf(golden.at("level").get<std::string>()),
                   TaskOfGolden(golden.at("task").get<std::string>()),
                   golden.at("seed").get<uint64_t>());
    }
    ExpectLayout(*game, golden);
    ExpectSteps(*game, golden, replayed);
    if (::testing::Test::HasFailure()) break;
  }
  return replayed;
}

TEST(BabyAiGolden, EpisodesOfTheOriginalReplayWithoutADifference) {
  const Replayed replayed =
      ReplayGolden(AGENTR_SOURCE_DIR "/tests/golden/rl/babyai_episodes.jsonl");
  EXPECT_EQ(replayed.episodes, 15);
  EXPECT_GT(replayed.steps, 250);
}

TEST(BabyAiGolden, SoDoTheFilesOfTheEnvironmentVariable) {
  const char* const paths = std::getenv("AGENTR_BABYAI_GOLDEN");
  if (paths == nullptr) GTEST_SKIP() << "AGENTR_BABYAI_GOLDEN names no file";
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) {
    const Replayed replayed = ReplayGolden(path);
    fmt::print("{}: {} episodes, {} steps\n", path, replayed.episodes, replayed.steps);
    EXPECT_GT(replayed.episodes, 0);
  }
}

}  // namespace
}  // namespace agentr
