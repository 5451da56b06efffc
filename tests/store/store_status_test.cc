#include "store/store_status.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "common/file.h"
#include "store/results.h"
#include "store/task_queue.h"
#include "tests/common/scratch_folder.h"
#include "tests/store/shared_server.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StoreStatusTest : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (WhyNoPostgres().empty()) server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  }
};

// Six tasks, one of them claimed; two done, one of them by a worker that has ended; one failed.
TEST_F(StoreStatusTest, CountsByStateAndWorker) {
  const std::vector<int64_t> keys = {0, 1, 2, 3, 4, 5};
  TaskQueue queue(Options(), {"trees", "here"}, "{}");
  queue.Join(keys);
  {
    TaskQueue ended(Options(), {"trees", "here"}, "{}");
    ended.Join(keys);
    ASSERT_EQ(ended.TryClaim(0), Claim::kMine);
    ASSERT_TRUE(ended.Commit(0, "result"));
  }
  ASSERT_EQ(queue.TryClaim(1), Claim::kMine);
  ASSERT_TRUE(queue.Commit(1, "result"));
  ASSERT_EQ(queue.TryClaim(2), Claim::kMine);
  queue.Release(2, "the server \x1b[31m said no");
  server().Ask("UPDATE agentr.task SET worker = NULL WHERE finished_at IS NULL AND key <> 2");
  server().Ask(
      "UPDATE agentr.task SET worker = (SELECT max(id) - 1 FROM agentr.worker) WHERE key = 3");
  // All was done in the last 10 of the 100 seconds since the worker came.
  server().Ask("UPDATE agentr.worker SET started_at = now() - interval '100 s', seen_at = now()");

  Database database(Options());
  const std::vector<RunStatus> runs = ReadStatus(database, "");
  ASSERT_EQ(runs.size(), 1U);
  const RunStatus& run = runs[0];
  EXPECT_EQ(run.kind, "trees");
  EXPECT_EQ(run.name, "here");
  EXPECT_EQ(run.tasks, 6);
  EXPECT_EQ(run.done, 2);
  EXPECT_EQ(run.running, 1);
  EXPECT_EQ(run.failed, 1);
  EXPECT_EQ(run.waiting, 2);
  EXPECT_NEAR(run.rate, 2.0 / 100, 0.002);
  ASSERT_TRUE(run.eta_s);
  EXPECT_NEAR(*run.eta_s, 3 / (2.0 / 100), 15);
  ASSERT_EQ(run.workers.size(), 2U);
  EXPECT_EQ(run.workers[0].done, 1);
  EXPECT_EQ(run.workers[0].running, 1);
  EXPECT_EQ(run.workers[1].name, "others");
  EXPECT_EQ(run.workers[1].workers, 1);
  EXPECT_EQ(run.workers[1].done, 1);
  EXPECT_EQ(run.workers[1].running, 0);

  const std::string table = StatusTable(runs);
  EXPECT_THAT(table, AllOf(HasSubstr("trees here"), HasSubstr("1 done, 1 running"),
                           HasSubstr("1 other worker, ended or silent: 1 done"),
                           HasSubstr("failed, for example: the server")));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_EQ(ToJson(runs)[0]["waiting"], 2);
}

// A worker that claims and commits all the time: the counts of the run are those of its worker.
TEST_F(StoreStatusTest, TheRunAndItsWorkersAreOfOneMoment) {
  std::vector<int64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), 0);
  TaskQueue queue(Options(), {"trees", "here"}, "{}");
  queue.Join(keys);
  std::thread busy([&] {
    for (const int64_t key : keys) {
      if (queue.TryClaim(key) == Claim::kMine) queue.Commit(key, "result");
    }
  });
  Database database(Options());
  int64_t done = 0;
  while (done < std::ssize(keys)) {
    const RunStatus run = ReadStatus(database, "")[0];
    done = run.done;
    if (run.workers.empty()) continue;
    EXPECT_EQ(run.workers[0].done, run.done);
    EXPECT_EQ(run.workers[0].running, run.running);
  }
  busy.join();
}

TEST_F(StoreStatusTest, ShowsTheRunsOfAName) {
  Database database(Options());
  EXPECT_TRUE(ReadStatus(database, "").empty());
  FindOrMakeRun(database, {"trees", "a"}, "{}");
  FindOrMakeRun(database, {"episodes", "a"}, "{}");
  FindOrMakeRun(database, {"trees", "b"}, "{}");
  EXPECT_EQ(ReadStatus(database, "").size(), 3U);
  ASSERT_EQ(ReadStatus(database, "a").size(), 2U);
  EXPECT_EQ(ReadStatus(database, "a")[0].tasks, 0);
  EXPECT_FALSE(ReadStatus(database, "a")[0].eta_s);
}

TEST_F(StoreStatusTest, CopiesFilesAndNothingOutsideTheFolder) {
  Database database(Options());
  const ScratchFolder folder;
  StoreFile(database, FindOrMakeRun(database, {"rows", "webshop/m"}, "{}").id, "a.jsonl", "rows");
  EXPECT_EQ(CopyFiles(database, "", folder.path()), 0);
  EXPECT_EQ(ReadFile(folder / "webshop/m/a.jsonl"), "rows");
  CopyFiles(database, "", folder.path() / "x" / ".." / "y/");
  EXPECT_EQ(ReadFile(folder / "y/webshop/m/a.jsonl"), "rows");
  EXPECT_THROW(CopyFiles(database, "no such run", folder.path()), FatalError);
}

// Whoever can write into the database can choose names.
TEST_F(StoreStatusTest, HostileNamesAndDamagedFilesDoNotStopTheOthers) {
  Database database(Options());
  const ScratchFolder folder;
  const auto store = [&](const std::string& run, const std::string& file) {
    StoreFile(database, FindOrMakeRun(database, {"rows", run}, "{}").id, file, "rows");
  };
  const std::vector<std::pair<std::string, std::string>> hostile = {
      {"../b", "a.jsonl"},
      {"/b", "a.jsonl"},
      {"..", "a.jsonl"},
      {"a", "../../b"},
      {"a", "/b"},
      {"a", std::string(300, 'x')},
      {std::string(300, 'x'), "a.jsonl"}};
  for (const auto& [run, file] : hostile) store(run, file);
  store("good", "a.jsonl");
  store("damaged", "a.jsonl");
  server().Ask(
      "UPDATE agentr.file SET sha256 = 'x' FROM agentr.run"
      " WHERE run.id = file.run AND run.name = 'damaged'");
  EXPECT_EQ(CopyFiles(database, "", folder / "deeper"), static_cast<int>(hostile.size()) + 1);
  EXPECT_EQ(ReadFile(folder / "deeper/good/a.jsonl"), "rows");
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
  EXPECT_FALSE(std::filesystem::exists("/b"));
}

}  // namespace
}  // namespace agentr
