#include "eval/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"
#include "tests/common/captured_log.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Call = ToyEnvironment::Call;
using Op = ToyEnvironment::Op;

std::vector<EpisodeStart> Starts(int tasks, int attempts = 1) {
  std::vector<EpisodeStart> starts;
  for (int task_id = 0; task_id < tasks; ++task_id) {
    for (int attempt = 0; attempt < attempts; ++attempt) starts.push_back({task_id, attempt, {}});
  }
  return starts;
}

// An evaluation with everything around it. Change the fields before Run.
struct ToyEvaluation {
  ToyEvaluation() {
    play.max_steps = 8;
    play.temperature = 1;
  }

  EvaluatorReport Run(const std::vector<EpisodeStart>& starts) {
    return Evaluator(family, world, model, store, play, options).Run(starts, stop);
  }

  // What is written, without the time it took.
  std::vector<Episode> Episodes() const {
    std::vector<Episode> episodes = store.Load();
    for (Episode& e : episodes) e.model_s = e.environment_s = e.wall_s = 0;
    return episodes;
  }

  ScratchFolder folder;
  ToyFamily family;
  ToyEnvironment world;
  ToyModel model{ToyActions()};
  FileEpisodeStore store{folder.path(), "{}"};
  PlayOptions play;
  ParallelismOptions options;
  std::atomic<bool> stop = false;
};

TEST(EvaluatorTest, PlaysAllEpisodesOnce) {
  ToyEvaluation evaluation;
  const EvaluatorReport report = evaluation.Run(Starts(20, 2));
  EXPECT_EQ(report.finished, 40);
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_FALSE(report.interrupted);
  const std::vector<Episode> episodes = evaluation.Episodes();
  ASSERT_EQ(episodes.size(), 40U);
  int64_t turns = 0;
  int64_t requests = 0;
  for (const Episode& episode : episodes) {
    turns += static_cast<int64_t>(episode.turns.size());
    requests += episode.usage.requests;
  }
  EXPECT_EQ(report.turns, turns);
  EXPECT_EQ(report.usage.requests, requests);
  EXPECT_EQ(evaluation.world.counts.resets, 40) << "no session is taken from another";
  EXPECT_EQ(report.execution.mismatches, 0);
  EXPECT_NE(episodes[0].turns, episodes[1].turns) << "attempts differ";
}

TEST(EvaluatorTest, EpisodesDoNotDependOnWhatRunsBeside) {
  const auto played = [](int in_flight, int sessions) {
    ToyEvaluation evaluation;
    evaluation.options.in_flight = in_flight;
    evaluation.options.sessions = sessions;
    evaluation.Run(Starts(30, 2));
    EXPECT_LE(evaluation.world.counts.most_live, sessions);
    EXPECT_EQ(evaluation.world.counts.misuses, 0);
    return evaluation.Episodes();
  };
  const std::vector<Episode> expected = played(1, 1);
  EXPECT_EQ(played(32, 64), expected);
  EXPECT_EQ(played(32, 3), expected);
  ToyEvaluation other;
  other.play.seed = 1;
  other.Run(Starts(30, 2));
  EXPECT_NE(other.Episodes(), expected);
}

TEST(EvaluatorTest, FaultsChangeNothing) {
  ToyEvaluation calm;
  calm.Run(Starts(30));
  ToyEvaluation stormy;
  stormy.world.fault = RandomFaults(Op::kStep, 0.2, 3);
  const EvaluatorReport report = stormy.Run(Starts(30));
  EXPECT_GT(report.execution.faults, 10);
  EXPECT_EQ(stormy.Episodes(), calm.Episodes());
}

TEST(EvaluatorTest, WhatIsThereIsSkippedAndWhatIsClaimedIsLeft) {
  ToyEvaluation evaluation;
  evaluation.Run(Starts(5));
  FileEpisodeStore other(evaluation.folder.path(), "{}");
  ASSERT_EQ(other.TryClaim(7, 0), Claim::kMine);
  const EvaluatorReport report = evaluation.Run(Starts(10));
  EXPECT_EQ(report.skipped, 5);
  EXPECT_EQ(report.taken, 1);
  EXPECT_EQ(report.finished, 4);
  EXPECT_EQ(evaluation.world.counts.resets, 9);
}

TEST(EvaluatorTest, AFailedEpisodeIsNamedNotWrittenAndTriedAgain) {
  ToyEvaluation evaluation;
  evaluation.options.max_tries = 2;
  evaluation.world.fault = FailSteps({3, 5});
  const EvaluatorReport report = evaluation.Run(Starts(10));
  EXPECT_EQ(report.finished, 8);
  ASSERT_EQ(report.failed.size(), 2U);
  EXPECT_EQ(report.failed[0].task_id, 3);
  EXPECT_EQ(report.failed[1].task_id, 5);
  EXPECT_EQ(report.failed[0].end, EpisodeEnd::kEnvironmentError);
  EXPECT_THAT(report.failed[0].error, HasSubstr("toy fault"));
  EXPECT_EQ(evaluation.Episodes().size(), 8U);
  EXPECT_EQ(evaluation.world.counts.resets, 12) << "two tries for each that failed";

  evaluation.world.fault = nullptr;
  const EvaluatorReport again = evaluation.Run(Starts(10));
  EXPECT_EQ(again.finished, 2);
  ToyEvaluation calm;
  calm.Run(Starts(10));
  EXPECT_EQ(evaluation.Episodes(), calm.Episodes());
}

TEST(EvaluatorTest, GivesUpWhenNothingWorksAnyMore) {
  ToyEvaluation evaluation;
  evaluation.options.give_up_after = 4;
  evaluation.options.in_flight = 1;
  evaluation.world.fault = FailCalls(ErrorKind::kEnvironment, [](const Call& call) {
    return call.op == Op::kStep && call.task_id >= 5;
  });
  const EvaluatorReport report = evaluation.Run(Starts(100));
  EXPECT_TRUE(report.gave_up);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.finished, 5);
  EXPECT_EQ(report.failed.size(), 4U);
}

TEST(EvaluatorTest, AMalformedReplyEndsTheRun) {
  ToyEvaluation evaluation;
  evaluation.options.in_flight = 1;
  evaluation.world.fault = FailCalls(ErrorKind::kMalformed, [](const Call& call) {
    return call.op == Op::kStep && call.task_id >= 5;
  });
  const EvaluatorReport report = evaluation.Run(Starts(100));
  EXPECT_TRUE(report.malformed);
  EXPECT_TRUE(report.gave_up);
  EXPECT_EQ(report.finished, 5);
  EXPECT_EQ(report.failed.size(), 1U);
}

TEST(EvaluatorTest, WarnsOnceWhereTheFirstResponsesAreUseless) {
  ToyEvaluation job;
  job.options.in_flight = 1;
  job.model.reply = [](std::span<const Message>, int n) -> Result<std::vector<std::string>> {
    std::vector<std::string> said;
    for (int i = 0; i < n; ++i) said.push_back("<think>I could do " + std::to_string(i));
    return said;
  };
  const CapturedLog log;
  job.Run(Starts(20));
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("20 of the first 20 responses hold no action"));
  EXPECT_EQ(text.find("of the first 20"), text.rfind("of the first 20"));
}

TEST(EvaluatorTest, AStopLeavesNothingHalfDone) {
  ToyEvaluation evaluation;
  evaluation.options.in_flight = 2;
  std::atomic<int> calls = 0;
  evaluation.model.wait = [&] {
    if (++calls == 20) evaluation.stop = true;
  };
  const EvaluatorReport report = evaluation.Run(Starts(50));
  EXPECT_TRUE(report.interrupted);
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_LT(report.finished, 50);
  EXPECT_EQ(evaluation.Episodes().size(), static_cast<size_t>(report.finished));
  evaluation.stop = false;
  EXPECT_EQ(evaluation.Run(Starts(50)).finished, 50 - report.finished) << "claims were given back";
}

}  // namespace
}  // namespace agentr
