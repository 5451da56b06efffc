#include "servers/sciworld/java_simulator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/file.h"
#include "servers/sciworld/sciworld.h"
#include "tests/servers/sciworld/java_setup.h"
#include "tests/servers/sciworld/random_episode.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class JavaSimulatorTest : public testing::WithScienceWorld {};

SimulatorTask TaskOf(const json& episode) {
  const auto types = SimulatorTaskTypes();
  const auto type =
      std::ranges::find(types, episode.at("task").get<std::string>(), &SimulatorTaskType::id);
  return {type->name, episode.at("variation").get<int>()};
}

json JsonOf(std::string_view action, const SciWorldReply& reply) {
  return {{"action", action},
          {"observation", reply.observation},
          {"reward", reply.reward},
          {"score", reply.score},
          {"done", reply.done}};
}

TEST_F(JavaSimulatorTest, EpisodesAreThoseOfThePythonPackage) {
  const json golden =
      json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/sciworld_episodes.json"));
  for (const json& episode : golden.at("episodes")) {
    SCOPED_TRACE(episode.at("task"));
    SciWorldEpisode ours(*source_, TaskOf(episode));
    EXPECT_EQ(ours.description(), episode.at("description").get<std::string>());
    const json& steps = episode.at("steps");
    EXPECT_EQ(JsonOf("look around", ours.last()), steps.at(0));
    for (size_t i = 1; i < steps.size(); ++i) {
      const auto action = steps.at(i).at("action").get<std::string>();
      ASSERT_EQ(JsonOf(action, ours.Step(action)), steps.at(i)) << "step " << i;
    }
  }
}

std::vector<std::string> PlayAll(SimulatorSource& source, size_t episodes, size_t threads) {
  std::vector<std::string> shown(episodes);
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> pool;
  for (size_t t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      for (size_t i = next++; i < episodes; i = next++) shown[i] = PlayRandomEpisode(source, i);
    });
  }
  pool.clear();
  return shown;
}

TEST_F(JavaSimulatorTest, EpisodesAreTheSameAloneAndBesideOthers) {
  const auto alone = PlayAll(*source_, 40, 1);
  const auto together = PlayAll(*source_, 40, 8);
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i], together[i]) << "episode " << i;
  EXPECT_EQ(source_->Use().live, 0);
}

// What names are given to things that could be confused is drawn; not from the episode's stream.
TEST_F(JavaSimulatorTest, QuestionsHaveOneAnswerAndChangeNothing) {
  const SimulatorTask task = SimulatorTaskAt(2462);
  SciWorldEpisode asked(*source_, task);
  SciWorldEpisode alone(*source_, task);
  for (int i = 0; i < 12; ++i) {
    const auto valid = asked.ValidActions();
    const auto objects = asked.PossibleObjects();
    EXPECT_EQ(asked.PossibleActions(), asked.PossibleActions());
    EXPECT_EQ(asked.ValidActions(), valid) << "step " << i;
    EXPECT_EQ(asked.PossibleObjects(), objects) << "step " << i;
    EXPECT_EQ(alone.ValidActions(), valid);
    const std::string action = valid.at(static_cast<size_t>(i * 37) % valid.size());
    EXPECT_EQ(asked.Step(action).observation, alone.Step(action).observation) << action;
    if (asked.last().done) break;
  }
}

TEST_F(JavaSimulatorTest, HasTheTasksOfTheTable) {
  for (const SimulatorTaskType& type : SimulatorTaskTypes()) {
    EXPECT_EQ(source_->Variations(type.name), type.variations) << type.name;
  }
}

TEST_F(JavaSimulatorTest, GoldSolvesTheTask) {
  const SimulatorTask task{"find-living-thing", 7};
  SciWorldEpisode episode(*source_, task);
  for (const std::string& action : SciWorldGold(*source_, task)) {
    if (!episode.last().done) episode.Step(action);
  }
  EXPECT_EQ(episode.last().score, 100);
  EXPECT_TRUE(episode.last().done);
}

TEST_F(JavaSimulatorTest, FreeActionsLeaveTheStateAsItIs) {
  SciWorldEpisode episode(*source_, {"boil", 0});
  const std::string before = episode.last().observation;
  for (const char* action : {"fly to the moon", "inventory", "task", "look around"}) {
    episode.Step(action);
  }
  EXPECT_EQ(episode.last().observation, before);
  EXPECT_EQ(episode.Step("\u00e9\U0001F600").observation, "No known action matches that input.");
}

TEST_F(JavaSimulatorTest, ErrorsOfJavaAndOfTheTaskAreErrors) {
  const auto simulator = source_->New();
  try {
    simulator->Goals();  // before a task is loaded
    ADD_FAILURE() << "no error";
  } catch (const SimulatorError& error) {
    EXPECT_THAT(error.what(), HasSubstr("java.util.NoSuchElementException: None.get"));
  }
  EXPECT_THROW(simulator->Load("boil", 999, false), SimulatorError);
  EXPECT_THROW(simulator->Load("juggle", 0, false), SimulatorError);
  simulator->Load("boil", 0, false);
  EXPECT_THAT(simulator->Goals(), HasSubstr("focus"));
}

TEST_F(JavaSimulatorTest, ClosedSimulatorsLeaveTheHeap) {
  const auto round = [&] {
    std::vector<SciWorldEpisode> episodes;
    for (int i = 0; i < 20; ++i) episodes.emplace_back(*source_, SimulatorTask{"boil", i});
    EXPECT_EQ(source_->Use().live, 20);
  };
  // 11 MB each in a heap of 1 GB: what stayed would fill it.
  for (int i = 0; i < 6; ++i) round();
  EXPECT_EQ(source_->Use().live, 0);
}

}  // namespace
}  // namespace agentr
