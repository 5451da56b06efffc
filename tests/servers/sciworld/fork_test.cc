// A fork behaves as an episode that is played again from the beginning, and leaves its parent
// alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "common/random.h"
#include "servers/sciworld/sciworld.h"
#include "tests/servers/sciworld/java_setup.h"

namespace agentr {
namespace {

class SciWorldForkTest : public testing::WithScienceWorld {};

// How much to compare: little by default; AGENTR_TWINS=90 compares three tasks of each of the 30
// types, 90 steps each.
struct Extent {
  size_t tasks = 6;
  int rounds = 1;
  int steps = 12;

  static Extent Asked() {
    const char* const tasks = std::getenv("AGENTR_TWINS");
    if (tasks == nullptr) return {};
    return {.tasks = std::stoul(tasks), .rounds = 3, .steps = 30};
  }
};

// All that can be asked about a state.
std::vector<std::string> Shown(SciWorldEpisode& episode) {
  std::vector<std::string> shown = episode.ValidActions();
  for (const std::string& object : episode.PossibleObjects()) shown.push_back(object);
  shown.push_back(episode.Goals());
  shown.push_back(episode.last().observation);
  shown.push_back(std::to_string(episode.last().score));
  return shown;
}

void ExpectEqual(const SciWorldReply& ours, const SciWorldReply& theirs) {
  EXPECT_EQ(ours.observation, theirs.observation);
  EXPECT_EQ(ours.reward, theirs.reward);
  EXPECT_EQ(ours.score, theirs.score);
  EXPECT_EQ(ours.done, theirs.done);
}

// Actions that are valid, refused, ambiguous, the answers to a question, and passing time.
std::string RandomAction(SciWorldEpisode& episode, RandomStream& random) {
  if (episode.last().observation.starts_with("Ambiguous") && random.Below(3) > 0) {
    return std::to_string(random.Below(3));
  }
  const std::vector<std::string> objects = episode.PossibleObjects();
  const auto object = [&] {
    return objects.empty() ? "air" : objects[random.Below(objects.size())];
  };
  switch (random.Below(12)) {
    case 0:
      return "look around";
    case 1:
      return "inventory";
    case 2:
      return "wait1";
    case 3:
      return random.Below(4) == 0 ? "wait" : "focus on the moon";
    case 4:
      return "pick up " + object();
    case 5:
      return "move " + object() + " to " + object();
    case 6:
      return random.Below(2) == 0 ? "open door" : "look at " + object();
    default: {
      const std::vector<std::string> valid = episode.ValidActions();
      if (valid.empty()) return "look around";
      const std::string& action = valid[random.Below(valid.size())];
      // Most ways to focus end the episode.
      return action.starts_with("focus") && random.Below(10) > 0 ? "task" : action;
    }
  }
}

SciWorldEpisode Replayed(SimulatorSource& source, SimulatorTask task,
                         const std::vector<std::string>& actions) {
  SciWorldEpisode twin(source, task);
  for (const std::string& action : actions) twin.Step(action);
  return twin;
}

// One task: returns the number of steps that were compared.
int CompareTwins(SimulatorSource& source, SimulatorTask task, const Extent& extent,
                 RandomStream random, std::set<std::string>& replies) {
  SciWorldEpisode parent(source, task);
  std::vector<std::string> actions;
  int compared = 0;
  for (int round = 0; round < extent.rounds && !parent.last().done; ++round) {
    for (int i = 0; i < extent.steps && !parent.last().done; ++i) {
      actions.push_back(RandomAction(parent, random));
      parent.Step(actions.back());
    }
    if (parent.last().done) break;
    SciWorldEpisode fork = parent.Fork();
    SciWorldEpisode twin = Replayed(source, task, actions);
    const std::vector<std::string> before = Shown(parent);
    EXPECT_EQ(Shown(fork), before);
    EXPECT_EQ(Shown(twin), before);
    for (int i = 0; i < extent.steps && !fork.last().done; ++i) {
      const std::string action = RandomAction(fork, random);
      ExpectEqual(fork.Step(action), twin.Step(action));
      replies.insert(fork.last().observation.substr(0, 12));
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << task.type << " " << task.variation << ": " << action;
        return compared;
      }
      ++compared;
      if (i % 6 == 5) {
        EXPECT_EQ(Shown(fork), Shown(twin));
      }
    }
    EXPECT_EQ(Shown(fork), Shown(twin));
    EXPECT_EQ(Shown(parent), before);
  }
  return compared;
}

// All types of the simulator: those that are served, and those that AgentGym leaves out.
std::vector<SimulatorTaskType> AllTypes() {
  const auto served = SimulatorTaskTypes();
  std::vector<SimulatorTaskType> types(served.begin(), served.end());
  types.insert(types.end(), {{"5-1", "grow-plant", 126},
                             {"5-2", "grow-fruit", 126},
                             {"9-1", "inclined-plane-determine-angle", 168},
                             {"9-2", "inclined-plane-friction-named-surfaces", 1386},
                             {"9-3", "inclined-plane-friction-unnamed-surfaces", 162},
                             {"10-1", "mendelian-genetics-known-plant", 120},
                             {"10-2", "mendelian-genetics-unknown-plant", 480}});
  return types;
}

TEST_F(SciWorldForkTest, IsItsReplayedTwin) {
  const Extent extent = Extent::Asked();
  const std::vector<SimulatorTaskType> types = AllTypes();
  std::set<std::string> replies;
  int compared = 0;
  for (size_t i = 0; i < extent.tasks && !HasFailure(); ++i) {
    const SimulatorTaskType& type = types[i * (extent.tasks < types.size() ? 3 : 1) % types.size()];
    const auto turn = static_cast<int>(i);
    const SimulatorTask task{type.name, (turn * 7) % type.variations};
    compared += CompareTwins(*source_, task, extent, RandomStream(5).Split(i), replies);
  }
  EXPECT_GT(compared, static_cast<int>(extent.tasks) * extent.rounds * extent.steps / 2);
  EXPECT_TRUE(replies.contains("Ambiguous re"));
  EXPECT_TRUE(replies.contains("No known act"));
  std::printf("%d steps compared\n", compared);
}

}  // namespace
}  // namespace agentr
