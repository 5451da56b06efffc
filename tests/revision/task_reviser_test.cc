// One tree at a time: what is counted, which rows come of it, what is asked again.
#include "revision/task_reviser.h"

#include <gmock/gmock.h>

#include "clients/fake_environment.h"
#include "common/file.h"
#include "mcts/tree_file.h"
#include "tasks/revision_hints.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_search.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::vector<Ended> kGoodAndTwoBad = {
    {"p g", 1}, {"p x d", 0, End::kDone}, {"p y d", 0, End::kDone}};

// Names the number of a goal, which is another one each time.
class NumberedFamily : public ToyFamily, public RevisionHints {
 public:
  const RevisionHints& hints() const override { return *this; }
  Readings WithoutReadings(std::string_view observation) const override {
    if (!observation.starts_with("Goal ")) return {std::string(observation), {}};
    return {"Goal #", {std::string(observation.substr(5))}};
  }
};

class TaskReviserTest : public ::testing::Test {
 protected:
  using Outcome = tl::expected<TaskRows, TaskFailure>;

  // The result for the tree with these episodes, task 3.
  Outcome Run(const std::vector<Ended>& episodes) {
    return RunText(WriteTree(HandTree(episodes), TreeFormat::kCompact));
  }

  Outcome RunText(const std::string& text) {
    TaskReviser::Context context{.family = *played_family_, .stop = stop_};
    std::optional<SessionPool> sessions;
    if (environment_ != nullptr) sessions.emplace(*environment_, 2);
    context.environment = environment_;
    context.sessions = sessions ? &*sessions : nullptr;
    context.must_replay = must_replay_;
    context.data_hash = data_hash_;
    context.records = folder_ / "records";
    for (const std::string& format : formats_) context.formats.push_back(MakeRowFormat(format));
    return TaskReviser(options_, std::move(context)).Run({3, folder_.Write("tree.json", text)});
  }

  // One ended leaf behind a step proves it wrong, and nothing is repaired.
  static ReviseOptions FewProofs() {
    ReviseOptions options;
    options.mistakes.min_evidence = 1;
    options.mistakes.min_success = 0;
    options.repair.max_recovery = 0;
    return options;
  }

  const ScratchFolder folder_;
  const ToyFamily family_;
  const TaskFamily* played_family_ = &family_;
  std::atomic<bool> stop_ = false;
  ReviseOptions options_ = FewProofs();
  Environment* environment_ = nullptr;
  bool must_replay_ = false;
  std::string data_hash_ = "data";
  std::vector<std::string> formats_ = {"messages"};
};

TEST_F(TaskReviserTest, ARowForEachPairGoesFromTheErrorToTheGoodPath) {
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done) << done.error().error.message;
  const RevisionCounts& counts = done->counts;
  EXPECT_EQ(counts.trees, 1);
  EXPECT_EQ(counts.paths, 3);
  EXPECT_EQ(counts.good_paths, 1);
  EXPECT_EQ(counts.bad_paths, 2);
  EXPECT_EQ(counts.pairs_found, 2);
  EXPECT_EQ(counts.pairs, 2);
  EXPECT_EQ(counts.rows, 2);
  EXPECT_EQ(counts.first_errors.at(1), 2) << "the step behind the ancestor";
  EXPECT_EQ(counts.without_good + counts.without_pairs + counts.other_start + counts.too_long, 0);
  ASSERT_EQ(done->rows.size(), 2U);
  EXPECT_THAT(
      (std::vector{ActionsOf(done->rows[0].trajectory), ActionsOf(done->rows[1].trajectory)}),
      ::testing::UnorderedElementsAre(::testing::ElementsAre("p", "x", "wait", "g"),
                                      ::testing::ElementsAre("p", "y", "wait", "g")));
  EXPECT_NE(done->rows[0].hash, done->rows[1].hash);
}

TEST_F(TaskReviserTest, TheRevisionOfASlipSaysWhatWasDoneAndWhatWasMeant) {
  const auto thought_after = [&](const Slip& slip) {
    const Tree tree = HandTree({{"p g", 1}, {"p x d", 0, End::kDone}});
    const Tree slipped = Changed(tree, At(tree, "p x"), [&](Node& node) { node.slip = slip; });
    const Outcome done = RunText(WriteTree(slipped, TreeFormat::kCompact));
    return done && done->rows.size() == 1 ? done->rows[0].trajectory.turns.at(2).response : "";
  };
  options_.thoughts = folder_.Write("thoughts.txt", "Any.\n[slip]\n{action} for {said}.\n");
  const std::string shown = thought_after({.said = "q7", .response = "Action: q7"});
  EXPECT_THAT(shown, HasSubstr("x for q7."));
  options_.thoughts =
      folder_.Write("more.txt", "Any.\n[slip]\nNo.\n[slip x]\n{action} for {said}.\n");
  EXPECT_THAT(thought_after({.said = "q7", .response = "Action: q7"}), HasSubstr("x for q7."));
  const std::string hidden = thought_after({.said = "q7"});
  EXPECT_THAT(hidden, HasSubstr("Any.")) << "it stands there as the agent said it";
  EXPECT_THAT(hidden, HasSubstr("wait"));
}

TEST_F(TaskReviserTest, AGoodPathWithASlipTeachesNoRevision) {
  const Tree tree = HandTree({{"p g", 1}, {"p q r", 1}, {"p x d", 0, End::kDone}});
  EXPECT_EQ(RunText(WriteTree(tree, TreeFormat::kCompact))->rows.size(), 2U);
  const Tree slipped =
      Changed(tree, At(tree, "p q"), [](Node& node) { node.slip = Slip{.said = "g"}; });
  const Outcome done = RunText(WriteTree(slipped, TreeFormat::kCompact));
  ASSERT_EQ(done->rows.size(), 1U);
  EXPECT_THAT(ActionsOf(done->rows[0].trajectory), ::testing::ElementsAre("p", "x", "wait", "g"));
}

TEST_F(TaskReviserTest, TheRevisionMayStandInTheTurnThatGoesOn) {
  options_.revision_turn = "next";
  options_.thoughts = folder_.Write("thoughts.txt", "Any.\n");
  FakeEnvironment environment(true, HandWorld);
  for (Environment* replays :
       {static_cast<Environment*>(nullptr), static_cast<Environment*>(&environment)}) {
    environment_ = replays;
    const Outcome done = Run(kGoodAndTwoBad);
    ASSERT_TRUE(done) << done.error().error.message;
    ASSERT_EQ(done->rows.size(), 2U);
    EXPECT_THAT(ActionsOf(done->rows[0].trajectory),
                ::testing::ElementsAre("p", ::testing::_, "g"));
    EXPECT_THAT(done->rows[0].trajectory.turns.at(2).response, HasSubstr("Any. "));
  }
  options_.revision_turn = "none";
  const Outcome silent = Run(kGoodAndTwoBad);
  EXPECT_THAT(ActionsOf(silent->rows.at(0).trajectory),
              ::testing::ElementsAre("p", ::testing::_, "g"));
  EXPECT_THAT(silent->rows[0].trajectory.turns.at(2).response, ::testing::Not(HasSubstr("Any.")));
  options_.repair.action = "look";
  EXPECT_THROW(Run(kGoodAndTwoBad), FatalError) << "an action that nobody would take";
  options_.repair.action = "";
  options_.repair.reply = "";
  EXPECT_THROW(Run(kGoodAndTwoBad), FatalError) << "a reply that nobody would read";
}

TEST_F(TaskReviserTest, RowsEndAsWellAsTheBestPathOfTheTree) {
  const std::vector<Ended> episodes = {{"p g", 1}, {"p h", 0.75}, {"p x q", 0}};
  const Outcome done = Run(episodes);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->rows.size(), 1U);
  EXPECT_THAT(ActionsOf(done->rows[0].trajectory), ::testing::ElementsAre("p", "x", "wait", "g"));
  EXPECT_EQ(done->counts.good_paths, 1);
  options_.mistakes.choice.margin = 0.25;
  EXPECT_EQ(Run(episodes)->rows.size(), 2U) << "one of them ends with h";
  options_.mistakes.choice.margin = 0;
  options_.data_type = "good";
  EXPECT_EQ(Run(episodes)->rows.size(), 1U);
}

TEST_F(TaskReviserTest, WithoutAReplayNoRowHasAReplyThatOnlyTheEnvironmentKnows) {
  options_.repair.reply = "";
  EXPECT_TRUE(Run(kGoodAndTwoBad)->rows.empty());
  FakeEnvironment environment(/*forks=*/true, HandWorld);
  environment_ = &environment;
  const Outcome replayed = Run(kGoodAndTwoBad);
  ASSERT_TRUE(replayed) << replayed.error().error.message;
  ASSERT_EQ(replayed->rows.size(), 2U);
  EXPECT_EQ(replayed->rows[0].trajectory.turns[2].observation, "Nothing changes");
}

TEST_F(TaskReviserTest, ALineForEachFormat) {
  formats_ = {"messages", "sharegpt"};
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  for (const FinishedRow& row : done->rows) {
    ASSERT_EQ(row.lines.size(), 2U);
    EXPECT_THAT(row.lines[0], HasSubstr("\"messages\""));
    EXPECT_THAT(row.lines[1], HasSubstr("\"conversations\""));
  }
}

TEST_F(TaskReviserTest, TreesWithoutAPairAreCountedByTheirReason) {
  const Outcome only_bad = Run({{"p x", 0}, {"p y", 0}});
  ASSERT_TRUE(only_bad);
  EXPECT_EQ(only_bad->counts.without_good, 1);
  EXPECT_EQ(only_bad->counts.without_pairs, 0);
  EXPECT_TRUE(only_bad->rows.empty());
  const Outcome only_good = Run({{"p g", 1}});
  ASSERT_TRUE(only_good);
  EXPECT_EQ(only_good->counts.without_good, 0);
  EXPECT_EQ(only_good->counts.without_pairs, 1);
  EXPECT_TRUE(only_good->rows.empty());
}

TEST_F(TaskReviserTest, ATreeWithoutAPairNeedsNoVerifier) {
  options_.verifier = "rollout";
  for (const std::vector<Ended>& episodes :
       {std::vector<Ended>{{"p x", 0}, {"p y", 0}}, std::vector<Ended>{{"p g", 1}}}) {
    const Outcome done = Run(episodes);
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_TRUE(done->rows.empty());
  }
  EXPECT_FALSE(Run(kGoodAndTwoBad)) << "without an environment";
}

TEST_F(TaskReviserTest, PairsAreLimitedAfterTheyAreCounted) {
  options_.max_pairs_per_task = 1;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->counts.pairs_found, 2);
  EXPECT_EQ(done->counts.pairs, 1);
  EXPECT_EQ(done->rows.size(), 1U);
}

TEST_F(TaskReviserTest, TooLongRowsAreCountedAndLeftOut) {
  options_.judge.max_context = 20;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->counts.too_long, 2);
  EXPECT_EQ(done->counts.rows, 0);
  EXPECT_TRUE(done->rows.empty());
}

TEST_F(TaskReviserTest, ADamagedFileIsTheFilesFault) {
  const std::string whole = WriteTree(HandTree(kGoodAndTwoBad), TreeFormat::kCompact);
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string(), std::string("{}")}) {
    const Outcome failed = RunText(text);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().task_id, 3);
    EXPECT_TRUE(failed.error().bad_tree);
    EXPECT_THAT(failed.error().error.message, HasSubstr("tree.json"));
  }
}

TEST_F(TaskReviserTest, ReplaysAreCounted) {
  FakeEnvironment environment(true, HandWorld);
  environment_ = &environment;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  EXPECT_GE(done->counts.episodes, done->counts.pairs);
  EXPECT_GT(done->counts.episode_turns, 0);
  EXPECT_GT(done->counts.calls.opens + done->counts.calls.resets, 0);
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 2);
  EXPECT_EQ(done->rows.size(), 2U);
}

TEST_F(TaskReviserTest, AGoodPathThatFailsInTheEnvironmentGivesNoRow) {
  FakeEnvironment environment(true, [](int task_id, const std::vector<std::string>& actions) {
    StepResult result = HandWorld(task_id, actions);
    if (result.done) result.reward = 0;  // the goal is not worth anything any more
    return result;
  });
  environment_ = &environment;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 0);
  EXPECT_TRUE(done->rows.empty());
}

TEST_F(TaskReviserTest, AGoodStepThatFailedIsNotTriedAfterAnotherMistakeOfTheKind) {
  FakeEnvironment environment(true, [](int task_id, const std::vector<std::string>& actions) {
    const bool too_late = actions.size() > 2 && actions.back() == "g";
    return too_late ? StepResult{"nothing"} : HandWorld(task_id, actions);
  });
  environment_ = &environment;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->counts.mistakes_found, 2);
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kFailed)], 1);
  EXPECT_TRUE(done->rows.empty());
}

TEST_F(TaskReviserTest, AGoodStepThatFailedIsNotTriedAtAnotherNodeOfTheState) {
  // After "x" it is too late for "h".
  FakeEnvironment environment(true, [](int /*task*/, const std::vector<std::string>& actions) {
    if (actions.empty()) return StepResult{"Goal 3."};
    const std::string& last = actions.back();
    if (last == "wait" || last == "stuck") return StepResult{"Nothing changes"};
    const bool late = std::ranges::count(actions, "x") > 0;
    if (late && last == "h") return StepResult{"nothing"};
    return StepResult{"saw", 0, false};
  });
  environment_ = &environment;
  const Tree tree =
      WithRefusals(HandTree({{"p h a", 1}, {"p stuck h b", 1}, {"p x d", 0, End::kDone}}));
  const Outcome done = RunText(WriteTree(tree, TreeFormat::kCompact));
  ASSERT_TRUE(done);
  EXPECT_THAT(done->counts.mistakes, Contains(Pair("dead_end", 1)))
      << "two good paths repair it, and both begin with h";
}

TEST_F(TaskReviserTest, AMistakeThatCostsRewardForGoodIsTriedOnceAndGivesNoRow) {
  FakeEnvironment environment(true, [](int /*task*/, const std::vector<std::string>& actions) {
    if (actions.empty()) return StepResult{"Goal 3."};
    std::string saw = "saw";
    for (const std::string& action : actions) {
      if (action != "wait" && action != "x") saw += " " + action;
    }
    const bool mistaken = std::ranges::count(actions, "x") > 0;
    if (actions.back() == "g") return StepResult{saw, mistaken ? 0.75 : 1, true};
    return StepResult{actions.back() == "wait" ? "Nothing changes" : saw};
  });
  environment_ = &environment;
  const Outcome done = Run({{"p g", 1}, {"p h g", 1}, {"p i g", 1}, {"p x d", 0, End::kDone}});
  ASSERT_TRUE(done);
  EXPECT_GE(done->counts.pairs_found, 3);
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kFailed)], 1);
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 0);
  EXPECT_TRUE(done->rows.empty());
}

TEST_F(TaskReviserTest, DecisionsAreKeptUntilWhatTheyDependOnChanges) {
  FakeEnvironment environment(true, HandWorld);
  environment_ = &environment;
  const Outcome first = Run(kGoodAndTwoBad);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->counts.cache_hits, 0);
  EXPECT_EQ(first->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 2);
  int64_t calls = environment.calls("reset");
  // Whether the next run asks the environment again.
  const auto asks = [&] {
    const Outcome again = Run(kGoodAndTwoBad);
    EXPECT_TRUE(again);
    const bool asked = environment.calls("reset") > calls;
    calls = environment.calls("reset");
    EXPECT_EQ(again->counts.cache_hits, asked ? 0 : 1);
    EXPECT_EQ(again->counts.episodes > 0, asked) << "only replays of this run count";
    EXPECT_EQ(again->rows.size(), 2U);
    return asked;
  };
  EXPECT_FALSE(asks());
  formats_ = {"sharegpt"};
  EXPECT_FALSE(asks()) << "the format decides nothing";
  options_.mistakes.choice.alpha = 0.75;
  EXPECT_TRUE(asks());
  options_.mistakes.choice.margin = 0.1;
  EXPECT_TRUE(asks());
  options_.seed = 5;
  EXPECT_TRUE(asks());
  options_.repair.reply = "fine.";
  EXPECT_TRUE(asks());
  data_hash_ = "other data";
  EXPECT_TRUE(asks());
  EXPECT_FALSE(asks());
  WriteFileAtomically(folder_ / "records" / "3.json", "{");
  EXPECT_TRUE(asks()) << "a damaged record is as none";
}

TEST_F(TaskReviserTest, AFaultOfTheEnvironmentIsNoFaultOfTheTreeAndNotKept) {
  bool down = true;
  FakeEnvironment environment(true, HandWorld, [&](const std::string&, int64_t) {
    return down ? std::optional<Error>(Error{ErrorKind::kServer, "down"}) : std::nullopt;
  });
  environment_ = &environment;
  const Outcome failed = Run(kGoodAndTwoBad);
  ASSERT_FALSE(failed);
  EXPECT_FALSE(failed.error().bad_tree);
  EXPECT_EQ(failed.error().error.kind, ErrorKind::kServer);
  down = false;
  const Outcome again = Run(kGoodAndTwoBad);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->counts.cache_hits, 0);
}

TEST_F(TaskReviserTest, AnotherBeginningIsCountedOrRefused) {
  FakeEnvironment environment(
      true, [](int, const std::vector<std::string>&) { return StepResult{"Quite another goal."}; });
  environment_ = &environment;
  const Outcome unchecked = Run(kGoodAndTwoBad);
  ASSERT_TRUE(unchecked);
  EXPECT_EQ(unchecked->counts.other_start, 1);
  ASSERT_EQ(unchecked->rows.size(), 2U);
  EXPECT_THAT(unchecked->rows[0].lines[0], HasSubstr(R"("replay":"unchecked")"));
  must_replay_ = true;
  const Outcome refused = Run(kGoodAndTwoBad);
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().bad_tree);
  EXPECT_EQ(refused.error().error.kind, ErrorKind::kRejected);
  EXPECT_THAT(refused.error().error.message,
              AllOf(HasSubstr("tree.json"), HasSubstr("--env_server_base")));
}

TEST_F(TaskReviserTest, WhatAnotherEnvironmentLeftUncheckedIsDecidedAgain) {
  data_hash_ = "";  // as of servers that do not tell
  FakeEnvironment other(
      true, [](int, const std::vector<std::string>&) { return StepResult{"Quite another goal."}; });
  environment_ = &other;
  const Outcome unchecked = Run(kGoodAndTwoBad);
  ASSERT_TRUE(unchecked);
  EXPECT_EQ(unchecked->counts.other_start, 1);
  FakeEnvironment environment(true, HandWorld);
  environment_ = &environment;
  const Outcome checked = Run(kGoodAndTwoBad);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->counts.cache_hits, 0);
  EXPECT_EQ(checked->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 2);
}

TEST_F(TaskReviserTest, ABeginningWithAnotherReadingIsTheSame) {
  const NumberedFamily numbered;
  played_family_ = &numbered;
  must_replay_ = true;
  FakeEnvironment environment(true, [](int task_id, const std::vector<std::string>& actions) {
    return actions.empty() ? StepResult{"Goal 4."} : HandWorld(task_id, actions);
  });
  environment_ = &environment;
  const Outcome done = Run(kGoodAndTwoBad);
  ASSERT_TRUE(done) << done.error().error.message;
  EXPECT_EQ(done->counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 2);
}

TEST_F(TaskReviserTest, AStoppedRunIsCancelled) {
  stop_ = true;
  const Outcome stopped = Run(kGoodAndTwoBad);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().error.kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace agentr
