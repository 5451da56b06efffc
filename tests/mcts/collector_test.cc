#include "mcts/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>

#include "common/error.h"
#include "tests/common/captured_log.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Op = ToyEnvironment::Op;
using Call = ToyEnvironment::Call;

// Trees in memory, by task; full when the test says so.
class MemoryStore : public TreeStore {
 public:
  Claim TryClaim(int task_id) override {
    const std::lock_guard lock(mutex_);
    if (trees_.contains(task_id)) return Claim::kDone;
    if (later[task_id] > 0) {
      --later[task_id];
      return Claim::kLater;
    }
    return claims_.insert(task_id).second ? Claim::kMine : Claim::kTaken;
  }

  bool Commit(const Tree& tree) override {
    Release(tree.origin().task_id, "");
    const std::lock_guard lock(mutex_);
    if (lost.erase(tree.origin().task_id) > 0) return false;
    if (trees_.size() >= room) throw FatalError(ExitCode::kFile, "the disk is full");
    trees_[tree.origin().task_id] = WriteTree(tree, TreeFormat::kCompact);
    return true;
  }

  void Release(int task_id, std::string_view /*error*/) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(claims_.erase(task_id), 1) << task_id;
  }

  Tree Load(int task_id) const override { return ReadTree(trees_.at(task_id), "memory"); }
  int64_t CountDone(const std::vector<int>& tasks) const override {
    return std::ranges::count_if(tasks, [&](int task) { return trees_.contains(task); });
  }
  std::string place() const override { return "memory"; }

  std::vector<int> done() const {
    std::vector<int> tasks;
    for (const auto& [task, bytes] : trees_) tasks.push_back(task);
    return tasks;
  }
  const std::map<int, std::string>& trees() const { return trees_; }
  bool all_released() const { return claims_.empty(); }

  size_t room = 1000000;
  std::map<int, int> later;  // how often another worker still has a task
  std::set<int> lost;        // tasks whose first tree comes after another worker took them over

 private:
  std::mutex mutex_;
  std::map<int, std::string> trees_;
  std::set<int> claims_;
};

std::vector<int> Tasks(int count) {
  std::vector<int> tasks(static_cast<size_t>(count));
  std::iota(tasks.begin(), tasks.end(), 0);
  return tasks;
}

// A collector with everything around it. Change the fields before Run.
struct Job {
  explicit Job(bool forks = false) : world(forks) {
    search.max_depth = 4;
    search.n_gen = 3;
    search.iterations = 4;
  }

  CollectReport Run(const std::vector<int>& tasks) {
    Collector collector(family, world, model, store, search, options,
                        {"toy", 0, model.name(), "data", ""});
    return collector.Run(tasks, stop);
  }

  ToyFamily family;
  ToyEnvironment world;
  ToyModel model{ToyActions()};
  MemoryStore store;
  SearchOptions search;
  ParallelismOptions options;
  std::atomic<bool> stop = false;
};

std::vector<int> FailedIds(const CollectReport& report) {
  std::vector<int> ids;
  for (const FailedTask& failed : report.failed) ids.push_back(failed.task_id);
  return ids;
}

TEST(CollectorTest, SearchesAllTasks) {
  Job job;
  const CollectReport report = job.Run(Tasks(20));
  EXPECT_EQ(report.finished, 20);
  EXPECT_EQ(report.skipped, 0);
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(job.store.done(), Tasks(20));
  EXPECT_TRUE(job.store.all_released());
  int64_t nodes = 0, successes = 0;
  for (int task_id = 0; task_id < 20; ++task_id) {
    const Tree tree = job.store.Load(task_id);
    EXPECT_EQ(tree.origin().task_id, task_id);
    EXPECT_EQ(tree.origin().data_hash, "data");
    EXPECT_EQ(tree.root().observation, ToyEnvironment::FirstObservation(task_id));
    nodes += tree.size();
    successes += std::ranges::any_of(tree.nodes(), [](const Node& n) { return n.reward == 1; });
  }
  EXPECT_EQ(report.nodes, nodes);
  EXPECT_EQ(report.successes, successes);
  EXPECT_GT(successes, 0);
  EXPECT_GT(report.nodes_to_success, successes);
  EXPECT_LT(report.nodes_to_success, nodes);
  EXPECT_EQ(report.usage.requests, static_cast<int64_t>(job.model.prompts().size()));
  EXPECT_EQ(report.execution.opens, job.world.counts.opens);
  EXPECT_EQ(report.execution.steps + report.execution.replays, job.world.counts.steps);
  EXPECT_EQ(report.execution.resets, job.world.counts.resets);
  EXPECT_EQ(job.world.counts.misuses, 0);
  EXPECT_EQ(job.world.counts.live, 0) << "all sessions are closed";
}

TEST(CollectorTest, SkipsWhatIsDoneOrTaken) {
  Job job;
  job.Run({3, 5});
  ASSERT_EQ(job.store.TryClaim(7), Claim::kMine);
  const CollectReport report = job.Run(Tasks(10));
  EXPECT_EQ(report.finished, 7);
  EXPECT_EQ(report.skipped, 2);
  EXPECT_EQ(report.taken, 1);
}

TEST(CollectorTest, AsksAgainForATaskThatItLost) {
  Job job;
  job.store.lost = {2};
  const CollectReport report = job.Run(Tasks(4));
  EXPECT_EQ(report.finished, 4);
  EXPECT_EQ(job.store.done(), Tasks(4));
  EXPECT_THAT(report.failed, IsEmpty());
}

TEST(CollectorTest, WaitsForATaskThatAnotherWorkerMayGiveUp) {
  Job job;
  job.store.later[1] = 2;
  const CollectReport report = job.Run(Tasks(3));
  EXPECT_EQ(report.finished, 3);
  EXPECT_EQ(report.taken, 0);
  EXPECT_EQ(job.store.later[1], 0);
}

TEST(CollectorTest, NothingToDo) {
  Job job;
  const CollectReport report = job.Run({});
  EXPECT_EQ(report.finished, 0);
  EXPECT_EQ(job.world.counts.opens, 0);
}

TEST(CollectorTest, ReportsFailedTasksAndTriesThemAgainNextTime) {
  Job job;
  job.world.fault = FailSteps({7, 2});
  const CollectReport report = job.Run(Tasks(10));
  EXPECT_EQ(report.finished, 8);
  EXPECT_THAT(FailedIds(report), ElementsAre(2, 7));
  EXPECT_EQ(report.failed.front().error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(report.failed.front().error.message, "toy fault: environment");
  EXPECT_FALSE(report.interrupted);
  EXPECT_FALSE(report.gave_up);
  EXPECT_TRUE(job.store.all_released());
  job.world.fault = nullptr;
  const CollectReport again = job.Run(Tasks(10));
  EXPECT_EQ(again.finished, 2);
  EXPECT_EQ(again.skipped, 8);
  EXPECT_EQ(job.store.done(), Tasks(10));
}

TEST(CollectorTest, SearchesAFailingTaskAsOftenAsToldTo) {
  Job job;
  job.options.max_tries = 4;
  job.world.fault = FailSteps({1});
  const CollectReport report = job.Run({1});
  EXPECT_THAT(FailedIds(report), ElementsAre(1));
  EXPECT_EQ(job.world.counts.steps, 4);
  EXPECT_EQ(report.usage.requests, 4) << "what failed searches cost counts too";
}

TEST(CollectorTest, ALaterAttemptMaySucceedWithTheSameTree) {
  Job calm;
  calm.Run({1});
  Job job;
  job.world.fault = FailCalls(ErrorKind::kEnvironment, [](const Call& call) {
    return call.op == Op::kStep && call.number <= 2;
  });
  EXPECT_EQ(job.Run({1}).finished, 1);
  EXPECT_EQ(job.store.trees(), calm.store.trees());
}

TEST(CollectorTest, GivesUpAfterFailuresInARow) {
  Job job;
  job.options.in_flight = 1;
  job.options.give_up_after = 3;
  job.options.max_tries = 1;
  // 4, 5 and 6 are the first three in a row.
  job.world.fault = FailSteps({0, 1, 4, 5, 6, 8});
  const CollectReport report = job.Run(Tasks(20));
  EXPECT_TRUE(report.gave_up);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.finished, 2);
  EXPECT_THAT(FailedIds(report), ElementsAre(0, 1, 4, 5, 6));
}

TEST(CollectorTest, AMalformedReplyEndsTheRunAndIsToldOnce) {
  Job job;
  job.options.in_flight = 4;
  job.world.fault =
      FailCalls(ErrorKind::kMalformed, [](const Call& call) { return call.op == Op::kStep; });
  const CollectReport report = job.Run(Tasks(40));
  EXPECT_TRUE(report.malformed);
  EXPECT_TRUE(report.gave_up);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.finished, 0);
  EXPECT_LE(job.world.counts.resets, 4) << "only the tasks in progress meet it";
  EXPECT_TRUE(job.store.all_released());
}

TEST(CollectorTest, WarnsOnceWhereTheFirstResponsesAreUseless) {
  Job job;
  job.options.in_flight = 1;
  job.model.reply = [](std::span<const Message>, int n) -> Result<std::vector<std::string>> {
    std::vector<std::string> said;
    for (int i = 0; i < n; ++i) said.push_back("<think>I could do " + std::to_string(i));
    return said;
  };
  const CapturedLog log;
  job.Run(Tasks(20));
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("20 of the first 20 responses hold no action"));
  EXPECT_EQ(text.find("of the first 20"), text.rfind("of the first 20"));
}

TEST(CollectorTest, StopGivesUpTheTreesInFlight) {
  Job job;
  job.options.in_flight = 4;
  job.model.wait = [&] {
    if (job.model.prompts().size() > 40) job.stop = true;
  };
  const CollectReport report = job.Run(Tasks(200));
  EXPECT_TRUE(report.interrupted);
  EXPECT_LT(report.finished, 200);
  EXPECT_THAT(report.failed, IsEmpty()) << "stopping is no failure";
  EXPECT_EQ(job.store.done().size(), static_cast<size_t>(report.finished));
  EXPECT_TRUE(job.store.all_released());
  job.model.wait = nullptr;
  job.stop = false;
  EXPECT_EQ(job.Run(Tasks(200)).finished, 200 - report.finished);
}

TEST(CollectorTest, AStopAfterTheLastTreeIsNoInterruption) {
  Job job;
  job.options.in_flight = 1;
  job.model.reply = [&](std::span<const Message>, int) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{ToyModel::Response("end 1")};
  };
  const CollectReport all = job.Run({1, 2});
  EXPECT_EQ(all.finished, 2);
  job.stop = true;
  EXPECT_TRUE(job.Run({3}).interrupted);
}

TEST(CollectorTest, AStoreThatCannotWriteEndsTheRun) {
  Job job;
  job.options.in_flight = 4;
  job.store.room = 5;
  EXPECT_THROW(job.Run(Tasks(200)), FatalError);
  EXPECT_EQ(job.store.done().size(), 5);
  EXPECT_LT(job.model.prompts().size(), 200 * 4) << "the other tasks were not searched";
  EXPECT_TRUE(job.store.all_released());
}

TEST(CollectorTest, AStoreThatCannotClaimEndsTheRun) {
  class BrokenStore : public MemoryStore {
   public:
    Claim TryClaim(int task_id) override {
      if (task_id == 3) throw FatalError(ExitCode::kFile, "cannot lock");
      return MemoryStore::TryClaim(task_id);
    }
  };
  Job job;
  BrokenStore store;
  job.options.in_flight = 4;
  Collector collector(job.family, job.world, job.model, store, job.search, job.options, {});
  EXPECT_THROW(collector.Run(Tasks(500), job.stop), FatalError);
  EXPECT_LT(store.done().size(), 250) << "the other workers ended too";
}

TEST(CollectorTest, TreesDoNotDependOnParallelism) {
  Job reference;
  reference.options.in_flight = 1;
  reference.options.sessions = 1;
  reference.Run(Tasks(24));
  ASSERT_EQ(reference.store.done().size(), 24);
  for (const bool forks : {false, true}) {
    for (const int trees_in_flight : {1, 32}) {
      for (const int sessions : {1, 16}) {
        Job job(forks);
        job.options.in_flight = trees_in_flight;
        job.options.sessions = sessions;
        job.Run(Tasks(24));
        EXPECT_EQ(job.store.trees(), reference.store.trees())
            << forks << " " << trees_in_flight << " " << sessions;
        EXPECT_EQ(job.world.counts.misuses, 0);
        EXPECT_LE(job.world.counts.most_live, forks ? 24 : sessions);
      }
    }
  }
}

TEST(CollectorTest, FilesDoNotDependOnFaults) {
  Job calm;
  calm.Run(Tasks(12));
  Job rough;
  rough.world.fault = RandomFaults(Op::kStep, 0.05, 3);
  rough.Run(Tasks(12));
  EXPECT_EQ(rough.store.trees(), calm.store.trees());
}

// Lets the first `count` callers through together, or gives up waiting for them.
class Meeting {
 public:
  explicit Meeting(int count) : count_(count) {}
  void Join() {
    std::unique_lock lock(mutex_);
    ++joined_;
    all_here_.notify_all();
    all_here_.wait_for(lock, std::chrono::seconds(10), [this] { return joined_ >= count_; });
  }

 private:
  const int count_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  int joined_ = 0;  // guarded by mutex_
};

TEST(CollectorTest, AsManyModelCallsWaitAtOnceAsTreesAreInFlight) {
  constexpr int kTrees = 400;
  Job small;  // an earlier run of the process must not bound this one
  small.Run(Tasks(3));
  Job job(/*forks=*/true);
  Meeting meeting(kTrees);
  job.model.wait = [&] { meeting.Join(); };
  job.options.in_flight = kTrees;
  EXPECT_EQ(job.Run(Tasks(kTrees)).finished, kTrees);
  EXPECT_EQ(job.model.most_at_once(), kTrees);
}

TEST(CollectorTest, NeverMoreTreesInFlightThanAskedFor) {
  for (const int trees_in_flight : {1, 3}) {
    Job job;
    job.options.in_flight = trees_in_flight;
    job.model.wait = [] { std::this_thread::yield(); };
    EXPECT_EQ(job.Run(Tasks(20)).finished, 20);
    EXPECT_LE(job.model.most_at_once(), trees_in_flight);
  }
}

TEST(CollectorTest, FewSessionsServeManyTrees) {
  Job job;
  job.options.in_flight = 32;
  job.options.sessions = 2;
  EXPECT_EQ(job.Run(Tasks(40)).finished, 40);
  EXPECT_LE(job.world.counts.opens, 2);
}

}  // namespace
}  // namespace agentr
