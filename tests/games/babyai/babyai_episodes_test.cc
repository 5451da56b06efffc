// The game against recorded episodes of the original, and its rules on hand-made worlds.
#include "games/babyai/babyai_episodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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

std::string Described(const BabyAiView& view, bool reference) {
  std::string text;
  AppendDescription(view, reference, text);
  return text;
}

std::string Joined(const std::vector<std::string>& sentences) {
  return fmt::format("{}", fmt::join(sentences, ", "));
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
  EXPECT_EQ(game.mission(), golden.at("mission").get<std::string>());
  EXPECT_EQ(game.horizon(), golden.at("max_steps"));
  EXPECT_EQ(GridRows(game.world()), golden.at("grid"));
  EXPECT_EQ(json({game.world().agent().x, game.world().agent().y}), golden.at("agent_pos"));
  EXPECT_EQ(game.world().direction(), golden.at("agent_dir"));
  const BabyAiView view = game.View();
  EXPECT_EQ(Rows(7, 7, [&](int x, int y) { return view.At(x, y); }), golden.at("view"));
  EXPECT_EQ(Described(view, /*reference=*/true), Joined(golden.at("descriptions0")));
}

void ExpectSteps(BabyAiEpisodes& game, const json& golden, Replayed& replayed) {
  double sum = 0;
  for (const json& step : golden.at("steps")) {
    const double reward = game.Step(static_cast<BabyAiAction>(step.at(0).get<int>()));
    sum += reward;
    ASSERT_EQ(reward, step.at(1));
    ASSERT_EQ(game.done(), step.at(2));
    ASSERT_EQ(Described(game.View(), true), Joined(step.at(3))) << "step " << game.steps();
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

// The rules on worlds made by hand.

using enum BabyAiAction;

constexpr GridCell kRedBall(GridType::kBall, GridColor::kRed);
constexpr GridCell kBlueBox(GridType::kBox, GridColor::kBlue);
constexpr GridCell kBlueKey(GridType::kKey, GridColor::kBlue);

// The agent at (3, 3), facing right.
BabyAiWorld WorldWith(std::initializer_list<std::pair<GridPlace, GridCell>> objects,
                      int rooms = 1) {
  BabyAiWorld world(rooms);
  for (const auto& [place, look] : objects) world.Add(place, look);
  world.PlaceAgent({3, 3}, 0);
  return world;
}

BabyAiInstruction To(InstructionKind kind, const BabyAiWorld& world, GridCell look) {
  return {kind, GridDescription(world, look.type(), look.color())};
}

// Which of the actions completes the mission, counted from 1; 0: none.
int CompletedBy(BabyAiWorld world, BabyAiMission mission,
                std::initializer_list<BabyAiAction> actions) {
  int count = 0;
  for (const BabyAiAction action : actions) {
    ++count;
    world.Act(action);
    if (mission.Check(world, action)) return count;
  }
  return 0;
}

TEST(BabyAiRules, WhereAnObjectWasStillCountsUntilTheNextDrop) {
  const BabyAiWorld world = WorldWith({{{4, 3}, kRedBall}});
  const BabyAiMission go(To(InstructionKind::kGoTo, world, kRedBall));
  EXPECT_EQ(CompletedBy(world, go, {kPickUp}), 1) << "it faces where the ball was";
  EXPECT_EQ(CompletedBy(world, go, {kDone}), 1);
  const BabyAiWorld behind = WorldWith({{{2, 3}, kRedBall}, {{4, 3}, kBlueKey}});
  const BabyAiMission back(To(InstructionKind::kGoTo, behind, kRedBall));
  EXPECT_EQ(CompletedBy(behind, back, {kLeft, kLeft}), 2);
  // The ball is dropped at (3, 2), so (2, 3), where it was, counts no more when the key is taken.
  BabyAiWorld moved = WorldWith({{{2, 3}, kRedBall}, {{2, 1}, kBlueKey}});
  moved.PlaceAgent({2, 2}, 1);
  const BabyAiMission both(To(InstructionKind::kPickUp, moved, kBlueKey),
                           To(InstructionKind::kGoTo, moved, kRedBall), /*after=*/false);
  EXPECT_EQ(CompletedBy(moved, both, {kPickUp, kLeft, kDrop, kLeft, kPickUp, kLeft, kLeft, kLeft}),
            8);
}

TEST(BabyAiRules, TheStepThatCompletesTheFirstPartIsTriedOnTheSecond) {
  const BabyAiWorld world = WorldWith({{{4, 3}, kRedBall}, {{5, 5}, kRedBall}});
  const BabyAiMission both(To(InstructionKind::kPickUp, world, kRedBall),
                           To(InstructionKind::kGoTo, world, kRedBall), /*after=*/false);
  EXPECT_EQ(both.Text(), "pick up a red ball, then go to a red ball");
  EXPECT_EQ(both.Horizon(1), 128);
  EXPECT_EQ(CompletedBy(world, both, {kPickUp}), 1);
  const BabyAiWorld other = WorldWith({{{4, 3}, kRedBall}, {{3, 4}, kBlueBox}});
  const BabyAiMission then(To(InstructionKind::kPickUp, other, kRedBall),
                           To(InstructionKind::kGoTo, other, kBlueBox), /*after=*/true);
  EXPECT_EQ(then.Text(), "go to the blue box after you pick up the red ball");
  EXPECT_EQ(CompletedBy(other, then, {kRight, kLeft, kPickUp, kRight}), 4)
      << "the second part counts only after the first";
}

TEST(BabyAiRules, PickingUpCountsOnlyWithEmptyHands) {
  const BabyAiWorld world = WorldWith({{{4, 3}, kRedBall}, {{3, 4}, kBlueBox}});
  const BabyAiMission pick(To(InstructionKind::kPickUp, world, kRedBall));
  EXPECT_EQ(CompletedBy(world, pick, {kPickUp}), 1);
  EXPECT_EQ(CompletedBy(world, pick, {kRight, kPickUp, kLeft, kPickUp}), 0) << "holds the box";
  // As the second part its memory begins when it is first checked, here with the ball in hand.
  const BabyAiMission second(To(InstructionKind::kGoTo, world, kBlueBox),
                             To(InstructionKind::kPickUp, world, kRedBall), /*after=*/false);
  EXPECT_EQ(CompletedBy(world, second, {kPickUp, kRight, kPickUp}), 0);
}

TEST(BabyAiRules, PutNextNeedsADropBesideIt) {
  const BabyAiWorld world = WorldWith({{{4, 3}, kRedBall}, {{3, 5}, kBlueBox}});
  const BabyAiInstruction put = {InstructionKind::kPutNext,
                                 GridDescription(world, GridType::kBall, GridColor::kRed),
                                 GridDescription(world, GridType::kBox, GridColor::kBlue)};
  const BabyAiMission mission(put);
  EXPECT_EQ(mission.Text(), "put the red ball next to the blue box");
  EXPECT_EQ(CompletedBy(world, mission, {kPickUp, kRight, kDrop}), 3);
  EXPECT_EQ(CompletedBy(world, mission, {kPickUp, kDrop}), 0) << "back where it was";
  EXPECT_EQ(CompletedBy(world, mission, {kPickUp, kRight, kForward, kDrop}), 0)
      << "the box is in the way, so nothing is dropped";
}

TEST(BabyAiRules, ABoxThatIsOpenedIsGone) {
  BabyAiWorld world = WorldWith({{{4, 3}, kBlueBox}});
  BabyAiMission mission(To(InstructionKind::kPickUp, world, kBlueBox));
  world.Act(kToggle);
  EXPECT_TRUE(world.grid().At({4, 3}).IsEmpty());
  EXPECT_FALSE(mission.Check(world, kToggle));
  EXPECT_EQ(mission.Horizon(world.rooms()), 64);
  world.Act(kPickUp);
  EXPECT_EQ(world.carried(), BabyAiWorld::kNone);
}

TEST(BabyAiRules, ALockedDoorNeedsAKeyOfItsColour) {
  const auto door = [](DoorState state) {
    return GridCell(GridType::kDoor, GridColor::kBlue, state);
  };
  BabyAiWorld world = WorldWith({{{7, 3}, door(DoorState::kLocked)},
                                 {{5, 3}, kBlueKey},
                                 {{5, 4}, {GridType::kKey, GridColor::kRed}}},
                                2);
  const BabyAiMission open(To(InstructionKind::kOpen, world, door(DoorState::kLocked)));
  EXPECT_EQ(open.Horizon(2), 128);
  world.PlaceAgent({5, 5}, 3);
  for (const BabyAiAction action : {kPickUp, kForward, kRight}) world.Act(action);
  world.PlaceAgent({6, 3}, 0);
  world.Act(kToggle);
  EXPECT_EQ(world.grid().At({7, 3}), door(DoorState::kLocked)) << "a red key";
  world.Act(kLeft);
  world.Act(kDrop);
  world.PlaceAgent({6, 3}, 2);
  world.Act(kPickUp);
  world.PlaceAgent({6, 3}, 0);
  EXPECT_EQ(CompletedBy(world, open, {kForward, kToggle}), 2);
  world.Act(kToggle);
  EXPECT_EQ(world.object(world.carried()).look, kBlueKey) << "the key is kept";
  world.Act(kForward);
  EXPECT_EQ(world.agent(), (GridPlace{7, 3}));
}

// Walls and closed doors hide what is behind them; objects do not.
TEST(BabyAiView, HidesWhatIsBehindWalls) {
  const GridCell door(GridType::kDoor, GridColor::kBlue, DoorState::kClosed);
  BabyAiWorld world = WorldWith({{{7, 3}, door}, {{5, 3}, kBlueKey}, {{10, 3}, kRedBall}}, 2);
  world.PlaceAgent({5, 4}, 0);
  EXPECT_EQ(Described(BabyAiView(world), true),
            "You see a wall 2 steps forward, You see a wall 3 steps right, "
            "You see a closed blue door 1 step left and 2 steps forward, "
            "You see a blue key 1 step left");
  world.PlaceAgent({6, 3}, 0);
  world.Act(kToggle);
  EXPECT_EQ(Described(BabyAiView(world), false),
            "You see a wall 3 steps left, You see a red ball 4 steps forward, "
            "You see an open blue door 1 step forward");
}

}  // namespace
}  // namespace agentr
