#include "servers/sciworld/sciworld.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/servers/sciworld/fake_simulator.h"

namespace agentr {
namespace {

using testing::FakeScript;
using testing::FakeSource;

TEST(SciWorldTasks, AreThoseOfThePublishedIds) {
  EXPECT_EQ(SimulatorTaskCount(), 4639U);
  EXPECT_EQ(SimulatorTaskTypes().size(), 23U);
  EXPECT_EQ(SimulatorTaskAt(0).type, "boil");
  EXPECT_EQ(SimulatorTaskAt(29).variation, 29);
  EXPECT_EQ(SimulatorTaskAt(30).type, "melt");
  EXPECT_EQ(SimulatorTaskAt(30).variation, 0);
  EXPECT_EQ(SimulatorTaskAt(4638).type, "identify-life-stages-2");
  EXPECT_EQ(SimulatorTaskAt(4638).variation, 9);
  std::set<std::pair<std::string_view, int>> seen;
  for (size_t i = 0; i < SimulatorTaskCount(); ++i) {
    seen.emplace(SimulatorTaskAt(i).type, SimulatorTaskAt(i).variation);
  }
  EXPECT_EQ(seen.size(), 4639U);
}

TEST(SciWorldScore, RoundsToTheNearestEvenHalf) {
  EXPECT_EQ(SciWorldScore(0.125), 12);
  EXPECT_EQ(SciWorldScore(0.375), 38);
  EXPECT_EQ(SciWorldScore(0.625), 62);
  EXPECT_EQ(SciWorldScore(0.1667), 17);
  EXPECT_EQ(SciWorldScore(1), 100);
  EXPECT_EQ(SciWorldScore(-1), -100);
}

TEST(SciWorldEpisode, RewardIsTheChangeOfTheScore) {
  FakeSource source({.steps = {{.score = 0.25}, {.score = 0.25}, {.score = 0.1}}});
  SciWorldEpisode episode(source, {"boil", 3});
  EXPECT_EQ(episode.description(), "Do boil 3");
  EXPECT_EQ(episode.last().observation, "look around in boil 3: \u00e9\U0001F600");
  EXPECT_EQ(episode.last().reward, 0);
  EXPECT_EQ(episode.Step("a").reward, 25);
  EXPECT_EQ(episode.Step("b").reward, 0);
  EXPECT_EQ(episode.Step("c").reward, -15);
  EXPECT_EQ(episode.last().score, 10);
  episode.Reset({"melt", 0});
  EXPECT_EQ(episode.last().reward, 0);
  EXPECT_EQ(episode.last().score, 0);
  EXPECT_EQ(source.Use().live, 1);
}

bool DoneAfter(testing::FakeStep step) {
  FakeSource source(FakeScript{.steps = {step}});
  SciWorldEpisode episode(source, {"boil", 0});
  EXPECT_FALSE(episode.last().done);
  return episode.Step("a").done;
}

TEST(SciWorldEpisode, EndsWhenCompletedTooLongOrFailed) {
  EXPECT_FALSE(DoneAfter({.score = 1}));
  EXPECT_TRUE(DoneAfter({.score = 1, .completed = true}));
  EXPECT_FALSE(DoneAfter({.moves = 100}));
  EXPECT_TRUE(DoneAfter({.moves = 101}));
  EXPECT_FALSE(DoneAfter({.score = 0}));
  EXPECT_TRUE(DoneAfter({.score = -1}));
}

TEST(SciWorldGold, ComesFromASimulatorOfItsOwn) {
  FakeSource source;
  EXPECT_THAT(SciWorldGold(source, {"boil", 2}), ::testing::ElementsAre("solve boil 2"));
  EXPECT_EQ(source.Use().live, 0);
}

}  // namespace
}  // namespace agentr
