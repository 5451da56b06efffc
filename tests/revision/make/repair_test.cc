#include "revision/make/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/fake_environment.h"
#include "revision/find/mistakes.h"
#include "tasks/revision_hints.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

// A line of places: "r" and "l" walk right and left, "far" leaps two to the left, "jump" leaves the
// line for the hole, which "up" leads out of; "win" at 2 ends with 1. What cannot be done changes
// nothing. "nap" passes time, which shows nowhere; "work" at 2 ends with 1 after a nap, else 0.75.
StepResult LineWorld(int /*task*/, const std::vector<std::string>& actions) {
  int place = 0;
  bool hole = false;
  bool rested = false;
  StepResult result{"at 0"};
  for (const std::string& action : actions) {
    result = {"Nothing changes"};
    if (hole && action == "up") {
      hole = false;
    } else if (hole || action == "wait") {
      continue;
    } else if (action == "r") {
      ++place;
    } else if (action == "l" || action == "far") {
      place -= action == "l" ? 1 : 2;
    } else if (action == "jump") {
      hole = true;
    } else if (action == "win" && place == 2) {
      return {"won", 1, true};
    } else if (action == "work" && place == 2) {
      return {"done", rested ? 1 : 0.75, true};
    } else if (action == "nap") {
      rested = true;
    } else {
      continue;
    }
    result = {hole ? "in the hole" : "at " + std::to_string(place)};
  }
  return result;
}

// Knows the way out of the hole; names states by where one stands.
class LineFamily : public ToyFamily, public RevisionHints {
 public:
  const RevisionHints& hints() const override { return *this; }
  bool IsRefusal(std::string_view, std::string_view, std::string_view after) const override {
    return after.starts_with("Nothing changes");
  }
  std::string StateKey(std::span<const Message> history) const override {
    return history.back().content;
  }
  std::vector<std::string> Recoveries(std::span<const Message>,
                                      std::span<const std::string>) const override {
    return {"up", "r"};
  }
};

// Does not know that a nap leads back, so that it can be a mistake.
class KeylessFamily : public LineFamily {
 public:
  std::string StateKey(std::span<const Message>) const override { return ""; }
};

class RepairTest : public ::testing::Test {
 protected:
  // The tree that these episodes make in the world.
  static Tree Played(const std::vector<Ended>& episodes) {
    const Tree plain = HandTree(episodes, /*task_id=*/3, "at 0");
    return Changed(plain, [&](int index, Node& node) {
      std::vector<std::string> actions;
      for (const int at : plain.Path(index)) {
        if (at != 0) actions.push_back(plain.node(at).action);
      }
      node.observation = LineWorld(3, actions).observation;
    });
  }

  // "=r -jump ~wait ^up +r": what became of the first mistake (a good path where there is none).
  std::string Repair(const std::vector<Ended>& episodes) {
    const Tree tree = Played(episodes);
    const StateMap states(tree, family_);
    const std::vector<Mistake> mistakes =
        FindMistakes(tree, states, KeylessFamily(), {.choice = {}, .min_evidence = 1});
    RepairTask task{GoodAlone(LeafPaths(tree), {}).front(), 0, "Oh."};
    if (!mistakes.empty() && !alone_) {
      const Draft draft =
          DraftOf(tree, states, mistakes[0], mistakes[0].goods[0], {}, RandomStream(1));
      task = {draft.pair, draft.error.bad_steps, "Oh."};
    }
    FakeEnvironment environment(forks_, LineWorld);
    SessionPool pool(environment, 4);
    const std::atomic<bool> stop = false;
    Replayer replayer(3, family_, environment, pool, stop);
    EXPECT_TRUE(replayer.Start());
    Repairer repairer(tree, states, family_, Thoughts::BuiltIn(), options_, &replayer, forks_);
    repaired_ = repairer.Run(task, RandomStream(7)).value();
    return Outline(repaired_.trajectory) + " " + std::string(Name(repaired_.replay.outcome));
  }

  const LineFamily family_;
  bool forks_ = true;
  bool alone_ = false;  // repairs the good path although there is a mistake
  RepairOptions options_;
  Repaired repaired_;
};

TEST_F(RepairTest, WhereTheGoodPathWorksNothingIsAdded) {
  EXPECT_EQ(Repair({{"r r win", 1}, {"r nap x", 0}}), "=r -nap ~wait +r +win verified");
}

TEST_F(RepairTest, WithoutAReplyTheRevisionTurnShowsTheEnvironments) {
  EXPECT_EQ(Repair({{"r r win", 1}, {"r push x", 0}}), "=r -push ~wait +r +win verified");
  EXPECT_TRUE(repaired_.replay.observations.empty()) << "the configured reply stays";
  options_.reply = "";
  EXPECT_EQ(Repair({{"r r win", 1}, {"r push x", 0}}), "=r -push ~wait +r +win verified");
  EXPECT_THAT(repaired_.replay.observations,
              ::testing::ElementsAre(::testing::Pair(2U, "Nothing changes")));
}

TEST_F(RepairTest, TheShortestRecoveryIsFound) {
  EXPECT_EQ(Repair({{"r r win", 1}, {"r jump x", 0}}), "=r -jump ~wait ^up +r +win verified");
  EXPECT_EQ(repaired_.recovery, 1);
  EXPECT_EQ(repaired_.trajectory.turns[3].observation, "at 1");
  EXPECT_THAT(repaired_.trajectory.turns[3].response, ::testing::EndsWith("\nAction: up"));
  EXPECT_TRUE(IsTrained(repaired_.trajectory, repaired_.trajectory.turns[3]));
  // Two to the left: two steps back.
  EXPECT_EQ(Repair({{"r r win", 1}, {"r far x", 0}}), "=r -far ~wait ^r ^r +r +win verified");
}

TEST_F(RepairTest, NoRecoveryIsLongerThanAllowedOrSearchedForWithoutForks) {
  options_.max_recovery = 1;
  EXPECT_EQ(Repair({{"r r win", 1}, {"r far x", 0}}), "=r -far ~wait +r +win failed");
  options_.max_recovery = 6;
  forks_ = false;
  EXPECT_EQ(Repair({{"r r win", 1}, {"r far x", 0}}), "=r -far ~wait +r +win failed");
}

TEST_F(RepairTest, NothingThatTheFullRewardNeedsIsPruned) {
  options_.alpha = 1;
  const std::vector<Ended> episodes = {{"nap r r work", 1}, {"nap r wait l", 0}};
  EXPECT_EQ(Repair(episodes), "=nap =r -wait ~wait +r +work verified");
  EXPECT_EQ(repaired_.replay.reward, 1);
}

TEST_F(RepairTest, StepsWithoutEffectAndDetoursGo) {
  EXPECT_EQ(Repair({{"r l r nap r win", 1}}), "+r +r +win verified");
  EXPECT_EQ(repaired_.pruned, 3);
  options_.prune = Prune::kEffect;
  EXPECT_EQ(Repair({{"r l r nap r win", 1}}), "+r +l +r +nap +r +win verified");
  options_.prune = Prune::kOff;
  EXPECT_EQ(repaired_.pruned, 0);
}

TEST_F(RepairTest, ThePrefixKeepsAFewSlips) {
  const std::vector<Ended> episodes = {{"no up no2 r r win", 1}, {"no up no2 r jump x", 0}};
  options_.max_recovery = 1;
  options_.prefix_slips = 2;
  const std::string text = Repair(episodes);
  // The first mistake is the first refused action.
  EXPECT_EQ(text, "-no ~wait +r +r +win verified");
}

TEST_F(RepairTest, AGoodPathKeepsAFewSlipsIfAsked) {
  alone_ = true;
  EXPECT_EQ(Repair({{"r no up r win", 1}}), "+r +r +win verified");
  options_.good_slips = 1;
  EXPECT_EQ(Repair({{"r no up r win", 1}}), "+r +up +r +win verified");
  options_.good_slips = 2;
  EXPECT_EQ(Repair({{"r no up r win", 1}}), "+r +no +up +r +win verified");
}

}  // namespace
}  // namespace agentr
