#include "store/task_queue.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/random.h"
#include "common/work_queue.h"
#include "tests/store/shared_server.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<int64_t> Keys(int64_t count) {
  std::vector<int64_t> keys(static_cast<size_t>(count));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

// Each test has a run of its own name.
class TaskQueueTest : public WithPostgres {
 protected:
  RunKey key() const {
    return {"trees", ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  }

  std::unique_ptr<TaskQueue> Worker(const std::vector<int64_t>& keys,
                                    const StoreOptions& options = Options()) const {
    auto queue = std::make_unique<TaskQueue>(options, key(), "{}");
    queue->Join(keys);
    return queue;
  }

  // The first value of a statement about this run's tasks, `… AND condition`.
  std::string Ask(const std::string& what, const std::string& condition = "true") const {
    return server().Ask(
        fmt::format("SELECT {} FROM agentr.task WHERE run = (SELECT id FROM agentr.run WHERE name "
                    "= '{}') AND {}",
                    what, key().name, condition));
  }

  // Changes the tasks of this run behind the back of their workers.
  void Spoil(const std::string& how, const std::string& condition) const {
    server().Ask(
        fmt::format("UPDATE agentr.task SET {} WHERE run = (SELECT id FROM agentr.run WHERE name = "
                    "'{}') AND {}",
                    how, key().name, condition));
  }

  // What is said when the result of a task is read, which is damaged.
  static std::string DamageOf(TaskQueue& queue, int64_t key) {
    try {
      queue.Load(key);
      ADD_FAILURE() << "task " << key << " is not damaged";
    } catch (const DamagedData& error) {
      EXPECT_EQ(error.code(), ExitCode::kFile);
      return error.what();
    }
    return "";
  }

  // Makes the server forget that the workers of this run are alive.
  void Silence() const {
    server().Ask(fmt::format(
        "UPDATE agentr.worker SET lease = '0' WHERE run = (SELECT id FROM agentr.run WHERE name = "
        "'{}')",
        key().name));
  }
};

TEST_F(TaskQueueTest, ACommittedTaskIsDoneForAll) {
  const auto worker = Worker(Keys(3));
  const std::string result = R"({"tree": "ü"})" + std::string(5000, 'x');
  ASSERT_EQ(worker->TryClaim(1), Claim::kMine);
  EXPECT_TRUE(worker->Commit(1, result));
  EXPECT_EQ(worker->TryClaim(1), Claim::kDone);
  EXPECT_EQ(worker->Load(1), result);
  const auto other = Worker(Keys(3));
  EXPECT_EQ(other->TryClaim(1), Claim::kDone);
  EXPECT_EQ(other->Load(1), result);
  EXPECT_EQ(other->CountDone({0, 1, 2}), 1);
  EXPECT_EQ(other->CountDone({0, 2}), 0);
  EXPECT_LT(std::stoi(Ask("octet_length(body)", "key = 1")), 200) << "compressed";
}

TEST_F(TaskQueueTest, TheOptionsAreThoseOfTheFirst) {
  EXPECT_EQ(TaskQueue(Options(), key(), "first").options(), "first");
  EXPECT_EQ(TaskQueue(Options(), key(), "second").options(), "first");
}

TEST_F(TaskQueueTest, AClaimIsOnce) {
  const auto one = Worker(Keys(2));
  const auto two = Worker(Keys(2));
  EXPECT_EQ(one->TryClaim(0), Claim::kMine);
  EXPECT_EQ(one->TryClaim(0), Claim::kTaken) << "another thread of the same worker has it";
  EXPECT_EQ(two->TryClaim(0), Claim::kLater);
}

TEST_F(TaskQueueTest, AReleasedTaskIsFreeAndItsErrorIsKept) {
  const auto one = Worker(Keys(1));
  const auto two = Worker(Keys(1));
  ASSERT_EQ(one->TryClaim(0), Claim::kMine);
  one->Release(0, "bad \xff server");
  EXPECT_EQ(Ask("error"), "bad \\xff server");
  EXPECT_EQ(two->TryClaim(0), Claim::kMine);
  EXPECT_EQ(Ask("error"), "") << "it is being tried again";
}

TEST_F(TaskQueueTest, AReleasedTaskIsNotClaimedAheadAgain) {
  const auto one = Worker(Keys(2));
  const auto two = Worker(Keys(2));
  ASSERT_EQ(one->TryClaim(0), Claim::kMine);
  one->Release(0, "");
  ASSERT_EQ(one->TryClaim(1), Claim::kMine) << "this fetches a batch of two";
  EXPECT_EQ(two->TryClaim(0), Claim::kMine);
}

TEST_F(TaskQueueTest, TheEndOfAWorkerFreesItsClaims) {
  auto one = Worker(Keys(5));
  ASSERT_EQ(one->TryClaim(0), Claim::kMine);
  ASSERT_EQ(one->TryClaim(1), Claim::kMine);
  one.reset();
  const auto two = Worker(Keys(5));
  for (int64_t key = 0; key < 5; ++key) EXPECT_EQ(two->TryClaim(key), Claim::kMine) << key;
}

TEST_F(TaskQueueTest, ASilentWorkersTasksAreTakenOverAndItsResultIsDiscarded) {
  const auto silent = Worker(Keys(2));
  ASSERT_EQ(silent->TryClaim(0), Claim::kMine);
  Silence();
  const auto other = Worker(Keys(2));
  ASSERT_EQ(other->TryClaim(0), Claim::kMine);
  EXPECT_FALSE(silent->Commit(0, "of the silent one"));
  EXPECT_EQ(silent->TryClaim(0), Claim::kLater);
  EXPECT_TRUE(other->Commit(0, "of the other"));
  EXPECT_FALSE(silent->Commit(0, "of the silent one"));
  EXPECT_EQ(silent->Load(0), "of the other");
}

TEST_F(TaskQueueTest, ASilentWorkerWhoseTaskNobodyTookMayCommit) {
  const auto worker = Worker(Keys(1));
  ASSERT_EQ(worker->TryClaim(0), Claim::kMine);
  Silence();
  EXPECT_TRUE(worker->Commit(0, "late"));
}

TEST_F(TaskQueueTest, ASignOfLifeRenewsTheLease) {
  StoreOptions options = Options();
  options.lease_s = 1;
  const auto worker = Worker(Keys(1), options);
  const std::string outlived = fmt::format(
      "SELECT seen_at > started_at + lease FROM agentr.worker WHERE run = (SELECT id FROM "
      "agentr.run WHERE name = '{}')",
      key().name);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (server().Ask(outlived) != "t" && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(server().Ask(outlived), "t");
}

TEST_F(TaskQueueTest, SignsOfLifeGoOnAfterALostConnection) {
  StoreOptions options = Options();
  options.lease_s = 1;
  options.patience_s = 0;
  const auto worker = Worker(Keys(1), options);
  const auto eventually = [&](const std::string& statement, const std::string& expected) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (server().Ask(statement) != expected && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return server().Ask(statement) == expected;
  };
  const std::string signing =
      "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'UPDATE agentr.worker "
      "SET "
      "seen_at%'";
  ASSERT_TRUE(eventually("SELECT count(*) > 0 " + signing, "t"));
  server().Ask("SELECT count(pg_terminate_backend(pid)) " + signing);
  const std::string now = server().Ask("SELECT now()");
  EXPECT_TRUE(eventually(
      fmt::format("SELECT seen_at > '{}' FROM agentr.worker WHERE run = (SELECT id FROM agentr.run "
                  "WHERE name = '{}')",
                  now, key().name),
      "t"));
}

TEST_F(TaskQueueTest, AClaimWhoseAnswerGotLostIsGivenAgain) {
  const auto worker = Worker(Keys(2));
  server().Ask(
      "UPDATE agentr.task SET worker = (SELECT max(id) FROM agentr.worker) WHERE key = 1 AND run = "
      "(SELECT max(run) FROM agentr.worker)");
  ASSERT_EQ(Ask("worker IS NOT NULL", "key = 1"), "t");
  EXPECT_EQ(worker->TryClaim(1), Claim::kMine);
}

TEST_F(TaskQueueTest, ACommitWhoseAnswerGotLostIsNotDoneTwice) {
  const auto worker = Worker(Keys(1));
  ASSERT_EQ(worker->TryClaim(0), Claim::kMine);
  EXPECT_TRUE(worker->Commit(0, "result"));
  const std::string finished = Ask("finished_at");
  EXPECT_TRUE(worker->Commit(0, "result")) << "sent again after a lost answer";
  EXPECT_EQ(Ask("finished_at"), finished);
}

TEST_F(TaskQueueTest, WorkersWithOtherRangesShareARun) {
  const auto one = Worker({0, 1});
  const auto two = Worker({2, 1});
  EXPECT_EQ(two->TryClaim(2), Claim::kMine);
  EXPECT_EQ(one->TryClaim(0), Claim::kMine);
  EXPECT_EQ(Ask("count(*)"), "3");
  EXPECT_EQ(Ask("worker IS NULL", "key = 1"), "t") << "no worker claims what it was not asked for";
}

TEST_F(TaskQueueTest, ManyThreadsOfManyWorkersDoEachTaskOnce) {
  constexpr int64_t kTasks = 3000;
  std::vector<std::atomic<int>> done(kTasks);
  std::vector<std::unique_ptr<TaskQueue>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(Worker(Keys(kTasks)));
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&] {
      std::atomic<bool> stop = false;
      WorkQueue work(kTasks, /*in_flight=*/3, 1, stop);
      work.Run([&](size_t item) {
        const auto key = static_cast<int64_t>(item);
        const Claim claim = worker->TryClaim(key);
        if (claim == Claim::kLater) return work.PutBack(item);
        if (claim == Claim::kDone) return;
        ++done[item];
        EXPECT_TRUE(worker->Commit(key, std::to_string(key)));
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : done) ASSERT_EQ(count, 1);
  EXPECT_EQ(workers[0]->CountDone(Keys(kTasks)), kTasks);
  EXPECT_EQ(workers[1]->Load(kTasks - 1), std::to_string(kTasks - 1));
}

TEST_F(TaskQueueTest, AKilledServerLosesNoClaimAndNoResult) {
  const auto worker = Worker(Keys(20));
  ASSERT_EQ(worker->TryClaim(0), Claim::kMine);
  ASSERT_EQ(worker->TryClaim(1), Claim::kMine);
  ASSERT_TRUE(worker->Commit(0, "before"));
  server().Kill();
  std::thread commit([&] { EXPECT_NO_THROW(EXPECT_TRUE(worker->Commit(1, "after"))); });
  server().Start();
  commit.join();
  EXPECT_EQ(worker->TryClaim(2), Claim::kMine);
  EXPECT_EQ(worker->Load(0), "before");
  EXPECT_EQ(worker->Load(1), "after");
}

TEST_F(TaskQueueTest, DamagedResultsAreSeen) {
  const auto worker = Worker(Keys(3));
  for (int64_t key = 0; key < 3; ++key) {
    ASSERT_EQ(worker->TryClaim(key), Claim::kMine);
    ASSERT_TRUE(worker->Commit(key, "result " + std::to_string(key)));
  }
  const std::string here = " WHERE run = (SELECT max(run) FROM agentr.worker) AND ";
  server().Ask("UPDATE agentr.task SET body = substring(body FROM 1 FOR 9)" + here + "key = 0");
  server().Ask("UPDATE agentr.task SET body = (SELECT body FROM agentr.task" + here + "key = 2)" +
               here + "key = 1");
  for (int64_t key = 0; key < 2; ++key) {
    const std::string message = DamageOf(*worker, key);
    EXPECT_THAT(message, HasSubstr(fmt::format("task {} of run", key)));
    EXPECT_THAT(message, HasSubstr("is damaged"));
  }
  EXPECT_EQ(worker->Load(2), "result 2");
}

TEST_F(TaskQueueTest, TheTaskOfADamagedResultIsFreeForAll) {
  const auto worker = Worker(Keys(2));
  for (int64_t key = 0; key < 2; ++key) {
    ASSERT_EQ(worker->TryClaim(key), Claim::kMine);
    ASSERT_TRUE(worker->Commit(key, "result"));
  }
  const auto reader = Worker(Keys(2));
  ASSERT_EQ(reader->TryClaim(1), Claim::kDone);
  Spoil("sha256 = 'no hash'", "key = 1");
  EXPECT_THAT(DamageOf(*reader, 1), HasSubstr("its task is free again"));
  EXPECT_EQ(Ask("error", "key = 1"), "its result was damaged in the database");
  EXPECT_EQ(Ask("count(body)"), "1") << "the other one stays";
  EXPECT_EQ(reader->CountDone(Keys(2)), 1);
  EXPECT_EQ(reader->TryClaim(1), Claim::kMine) << "also where it was known as done";
  EXPECT_TRUE(reader->Commit(1, "result again"));
  EXPECT_EQ(worker->Load(1), "result again");
  EXPECT_EQ(worker->Load(0), "result");
}

TEST_F(TaskQueueTest, DamageOfEveryColumnIsSeen) {
  const auto worker = Worker(Keys(1));
  for (const char* how :
       {"body = NULL", "body = ''", "body = '\\x00'", "bytes = NULL", "bytes = -1",
        "bytes = 4611686018427387904", "bytes = 5", "sha256 = NULL", "sha256 = ''"}) {
    ASSERT_EQ(worker->TryClaim(0), Claim::kMine) << how;
    ASSERT_TRUE(worker->Commit(0, "a result"));
    Spoil(how, "key = 0");
    EXPECT_THAT(DamageOf(*worker, 0), HasSubstr("is free again")) << how;
  }
}

// A reader without the right to write says so.
TEST_F(TaskQueueTest, ATaskThatCannotBeSetFreeIsSaidToo) {
  const auto worker = Worker(Keys(1));
  ASSERT_EQ(worker->TryClaim(0), Claim::kMine);
  ASSERT_TRUE(worker->Commit(0, "result"));
  Spoil("body = ''", "key = 0");
  server().Ask("CREATE USER looker");
  server().Ask("GRANT USAGE ON SCHEMA agentr TO looker");
  server().Ask("GRANT SELECT ON ALL TABLES IN SCHEMA agentr TO looker");
  StoreOptions options = Options();
  options.url = server().url() + "&user=looker";
  TaskQueue looker(options, key(), "{}");
  EXPECT_THAT(DamageOf(looker, 0), AllOf(HasSubstr("cannot be set free"),
                                         HasSubstr("permission denied"), HasSubstr("--store_run")));
  EXPECT_EQ(Ask("count(finished_at)"), "1");
}

// What a crash of a machine leaves: a block of zeros in a file of the server.
TEST_F(TaskQueueTest, AZeroedBlockOfTheServersFilesIsADamagedResult) {
  const auto worker = Worker(Keys(2));
  std::string noise;
  for (RandomStream random(5); noise.size() < 40'000;)
    noise += static_cast<char>(random.Below(256));
  for (int64_t key = 0; key < 2; ++key) {
    ASSERT_EQ(worker->TryClaim(key), Claim::kMine);
    ASSERT_TRUE(worker->Commit(key, noise + std::to_string(key)));
  }
  const std::string file = server().Ask(
      "SELECT current_setting('data_directory') || '/' || pg_relation_filepath("
      "reltoastrelid) FROM pg_class WHERE oid = 'agentr.task'::regclass");
  server().Ask("CHECKPOINT");
  server().Kill();
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(0, std::ios::end);
    const auto last = (static_cast<int64_t>(bytes.tellp()) / 8192 - 1) * 8192;
    ASSERT_GE(last, 0) << file;
    bytes.seekp(last);  // of the result that was stored last
    bytes << std::string(8192, '\0');
  }
  server().Start();
  EXPECT_EQ(worker->Load(0), noise + "0");
  EXPECT_THAT(DamageOf(*worker, 1), HasSubstr("is free again"));
  ASSERT_EQ(worker->TryClaim(1), Claim::kMine);
  EXPECT_TRUE(worker->Commit(1, noise + "1"));
  EXPECT_EQ(worker->Load(1), noise + "1");
}

TEST_F(TaskQueueTest, TasksThatWereRemovedAreAnError) {
  const auto worker = Worker(Keys(2));
  server().Ask("DELETE FROM agentr.task WHERE run = (SELECT max(run) FROM agentr.worker)");
  EXPECT_THROW(worker->TryClaim(0), FatalError);
}

}  // namespace
}  // namespace agentr
