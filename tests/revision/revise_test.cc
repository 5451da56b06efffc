// Whole revisions of trees in files: what is counted, written, remembered and left alone.
#include "revision/revise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "clients/fake_environment.h"
#include "clients/fake_language_model.h"
#include "mcts/tree_file.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReviseTest : public ::testing::Test {
 protected:
  ReviseTest() {
    options_.max_pairs_per_task = 0;
    options_.mistakes.min_evidence = 1;
    options_.mistakes.min_success = 0;
  }

  // A tree file of `task_id` with these bad steps behind "p" beside a good one, each searched on.
  void Write(int task_id, const std::vector<std::string>& bad) {
    std::vector<Ended> episodes = {{"p g", 1}};
    for (const std::string& end : bad) episodes.push_back({"p " + end + " on off", 0});
    const Tree tree = HandTree(episodes, task_id);
    WriteFileAtomically(PathOf(task_id), WriteTree(tree, TreeFormat::kCompact));
    files_.push_back({task_id, PathOf(task_id)});
  }

  std::filesystem::path PathOf(int task_id) const {
    return folder_.path() / ("search_results_" + std::to_string(task_id) + ".json");
  }

  ReviseReport Run(int in_flight = 2) {
    TaskReviser::Context context{.family = family_, .stop = stop_};
    context.model = model_;
    context.environment = environment_;
    std::unique_ptr<SessionPool> pool;
    if (environment_ != nullptr) pool = std::make_unique<SessionPool>(*environment_, 4);
    context.sessions = pool.get();
    context.records = folder_.path() / "records";
    context.formats.push_back(MakeRowFormat("messages"));
    RowSink sink(folder_.path() / "rows", context.formats, {.dedup = dedup_});
    const TaskReviser reviser(options_, std::move(context));
    return Revise(files_, reviser, sink, {in_flight, 3}, stop_, [](const FinishedRow&) {});
  }

  std::vector<nlohmann::json> Rows() const {
    std::vector<nlohmann::json> rows;
    std::istringstream in(ReadFile(folder_.path() / "rows.messages.jsonl"));
    for (std::string line; std::getline(in, line);) rows.push_back(nlohmann::json::parse(line));
    return rows;
  }

  const ScratchFolder folder_;
  const ToyFamily family_;
  std::atomic<bool> stop_ = false;
  ReviseOptions options_;
  Dedup dedup_ = Dedup::kNear;
  LanguageModel* model_ = nullptr;
  Environment* environment_ = nullptr;
  std::vector<TreeFile> files_;
};

TEST_F(ReviseTest, RowsStandInTheOrderOfTheTasksWhateverTheParallelism) {
  for (int task_id = 0; task_id < 40; ++task_id) {
    Write(task_id, {"x" + std::to_string(task_id), "y" + std::to_string(task_id)});
  }
  const ReviseReport report = Run(1);
  EXPECT_EQ(report.rows, 80);
  EXPECT_EQ(report.counts.trees, 40);
  const std::string text = ReadFile(folder_.path() / "rows.messages.jsonl");
  std::vector<int> tasks;
  for (const auto& row : Rows()) tasks.push_back(row["provenance"]["task"]);
  EXPECT_TRUE(std::ranges::is_sorted(tasks));
  Run(8);
  EXPECT_EQ(ReadFile(folder_.path() / "rows.messages.jsonl"), text);
}

TEST_F(ReviseTest, BadFilesAreNamedAndLeftAloneAndTheRestGoesOn) {
  Write(1, {"x"});
  Write(2, {"y"});
  Write(3, {"z"});
  Write(4, {"w"});
  const std::string whole = ReadFile(PathOf(1));
  WriteFileAtomically(PathOf(1), whole.substr(0, whole.size() / 2));
  WriteFileAtomically(PathOf(2), R"({"some": "other file"})");
  WriteFileAtomically(PathOf(3), "");
  const ReviseReport report = Run();
  EXPECT_FALSE(report.gave_up) << "files say nothing about models and servers";
  ASSERT_EQ(report.failed.size(), 3U);
  EXPECT_EQ(report.failed[0].task_id, 1);
  EXPECT_TRUE(report.failed[0].bad_tree);
  EXPECT_THAT(report.failed[0].error.message, HasSubstr("search_results_1.json"));
  EXPECT_EQ(report.failed[1].task_id, 2);
  EXPECT_EQ(report.rows, 1);
  EXPECT_EQ(ReadFile(PathOf(2)), R"({"some": "other file"})");
}

TEST_F(ReviseTest, DuplicatesOfAllTasksAreDroppedAndCounted) {
  Write(1, {"x", "x", "y"});
  Write(2, {"x"});  // the same world as task 1
  ReviseReport report = Run();
  EXPECT_EQ(report.rows, 2);
  EXPECT_EQ(report.exact_duplicates + report.near_duplicates, 1) << "one mistake is one state";
  dedup_ = Dedup::kOff;
  EXPECT_EQ(Run().rows, 3);
}

TEST_F(ReviseTest, EveryRowStatesItsReplay) {
  FakeEnvironment environment(true, HandWorld);
  environment_ = &environment;
  Write(1, {"x", "over"});  // "over" ends the episode in the environment
  const ReviseReport report = Run();
  EXPECT_EQ(report.counts.replays[static_cast<size_t>(ReplayOutcome::kVerified)], 1);
  EXPECT_EQ(report.counts.replays[static_cast<size_t>(ReplayOutcome::kFailed)], 1);
  EXPECT_EQ(report.counts.ended_bad, 1);
  ASSERT_EQ(report.rows, 1);
  EXPECT_EQ(Rows()[0]["provenance"]["replay"], "verified");
}

TEST_F(ReviseTest, WhatWasDecidedIsNotAskedAgain) {
  FakeEnvironment environment(true, HandWorld);
  environment_ = &environment;
  Write(1, {"x"});
  Write(2, {"y"});
  const ReviseReport first = Run();
  const std::string text = ReadFile(folder_.path() / "rows.messages.jsonl");
  const int64_t calls = environment.calls("reset");
  const ReviseReport again = Run();
  EXPECT_EQ(environment.calls("reset"), calls);
  EXPECT_EQ(again.counts.cache_hits, 2);
  EXPECT_EQ(again.counts.episodes, 0);
  EXPECT_EQ(again.counts.pairs, 2);
  EXPECT_GT(first.counts.pairs_found, 0);
  EXPECT_EQ(again.counts.pairs_found, first.counts.pairs_found);
  EXPECT_EQ(again.counts.mistakes_found, first.counts.mistakes_found);
  EXPECT_EQ(again.counts.bad_paths, first.counts.bad_paths);
  EXPECT_EQ(ReadFile(folder_.path() / "rows.messages.jsonl"), text);
  options_.mistakes.choice.alpha = 0.75;  // other options: another question
  Run();
  EXPECT_GT(environment.calls("reset"), calls);
}

TEST_F(ReviseTest, AFailedTaskIsTriedAgainAndIsInTheFileThen) {
  int failures = 1;
  std::mutex mutex;
  FakeEnvironment environment(true, HandWorld, [&](const std::string& call, int64_t) {
    const std::lock_guard lock(mutex);
    return call == "reset" && failures-- > 0
               ? std::optional<Error>(Error{ErrorKind::kServer, "down"})
               : std::nullopt;
  });
  environment_ = &environment;
  Write(1, {"x"});
  Write(2, {"y"});
  EXPECT_EQ(Run(1).failed.size(), 1U);
  EXPECT_EQ(Rows().size(), 1U);
  EXPECT_THAT(Run(1).failed, IsEmpty());
  EXPECT_EQ(Rows().size(), 2U);
}

TEST_F(ReviseTest, TooManyFailuresInARowEndTheRunWithoutAFile) {
  FakeEnvironment environment(true, HandWorld, [](const std::string& call, int64_t) {
    return call == "reset" ? std::optional<Error>(Error{ErrorKind::kServer, "down"}) : std::nullopt;
  });
  environment_ = &environment;
  for (int task_id = 1; task_id < 30; ++task_id) Write(task_id, {"x"});
  const ReviseReport report = Run(1);
  EXPECT_TRUE(report.gave_up);
  EXPECT_LT(report.failed.size(), 29U);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "rows.messages.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(TemporaryPath(folder_.path() / "rows.messages.jsonl")));
}

TEST_F(ReviseTest, WhereEverythingFailsEarlierRowsStay) {
  bool down = false;
  FakeEnvironment environment(true, HandWorld, [&](const std::string&, int64_t) {
    return down ? std::optional<Error>(Error{ErrorKind::kServer, "down"}) : std::nullopt;
  });
  environment_ = &environment;
  Write(1, {"x"});
  EXPECT_EQ(Run(1).rows, 1);
  options_.seed = 2;  // what was decided before does not count
  down = true;
  const ReviseReport report = Run(1);
  EXPECT_TRUE(report.gave_up);
  EXPECT_THAT(report.files, IsEmpty());
  EXPECT_EQ(Rows().size(), 1U);
}

TEST_F(ReviseTest, RowsInOtherFormatsOfAnEarlierRunGo) {
  const auto path = [&](const char* name) { return folder_.path() / name; };
  const std::vector<const char*> earlier = {"rows.jsonl", "rows.parquet", "rows.provenance.jsonl",
                                            "rows.sharegpt.jsonl", "rows.messages.parquet"};
  const std::vector<const char*> others = {"rows.notes.jsonl", "rows.chat_template.jinja",
                                           "more.sharegpt.jsonl"};
  for (const char* name : earlier) WriteFileAtomically(path(name), "earlier");
  for (const char* name : others) WriteFileAtomically(path(name), "mine");
  Write(1, {"x"});
  stop_ = true;
  Run();
  for (const char* name : earlier) EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  stop_ = false;
  EXPECT_EQ(Run().rows, 1);
  for (const char* name : earlier) EXPECT_FALSE(std::filesystem::exists(path(name))) << name;
  for (const char* name : others) EXPECT_EQ(ReadFile(path(name)), "mine");
  EXPECT_EQ(Rows().size(), 1U);
}

TEST_F(ReviseTest, AStoppedRunWritesNothing) {
  Write(1, {"x"});
  stop_ = true;
  EXPECT_TRUE(Run().interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "rows.messages.jsonl"));
}

TEST_F(ReviseTest, GoodPathsAlone) {
  options_.data_type = "good";
  Write(1, {"x"});
  EXPECT_EQ(Run().rows, 1);
  const nlohmann::json row = Rows().at(0);
  EXPECT_EQ(row["messages"].size(), 6U);
  EXPECT_EQ(row["provenance"]["verifier"], "none");
}

TEST_F(ReviseTest, DirectRevisionKeepsWholeBadPaths) {
  Write(1, {"x y z"});
  Run();
  EXPECT_EQ(Rows().at(0)["messages"].size(), 3U + 2 * 4 - 1);  // p x wait g
  options_.revise = 0;
  Run();
  EXPECT_EQ(Rows().at(0)["messages"].size(), 3U + 2 * 7 - 1);  // p x y z on wait g
  EXPECT_EQ(Rows().at(0)["provenance"]["verifier"], "none");
}

TEST_F(ReviseTest, TheActorIsAskedOncePerStep) {
  FakeLanguageModel model([](std::span<const Message>, int, const SamplingParams&) {
    return std::vector<std::string>{"Hm.\nJudgement: Good"};
  });
  model_ = &model;
  options_.verifier = "actor";
  WriteFileAtomically(folder_.path() / "prompt.txt", "[user]\n{action} {observation}");
  options_.verifier_prompt = (folder_.path() / "prompt.txt").string();
  Write(1, {"x y", "x z"});
  const ReviseReport report = Run();
  EXPECT_EQ(model.calls(), 5);  // x, y, y on, z, z on
  EXPECT_EQ(report.counts.judgements[static_cast<size_t>(Judgement::kGood)], 6);
  EXPECT_EQ(report.counts.first_errors.at(0), 2);
  Run();
  EXPECT_EQ(model.calls(), 5);
}

}  // namespace
}  // namespace agentr
