#include "store/store_check.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "store/results.h"
#include "store/store_status.h"
#include "store/task_queue.h"
#include "tests/store/shared_server.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreCheckTest : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (!WhyNoPostgres().empty()) return;
    server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
    for (const char* name : {"a", "b"}) {
      TaskQueue queue(Options(), {"trees", name}, "{}");
      queue.Join({0, 1, 2});
      for (const int64_t key : {0, 1}) {
        EXPECT_EQ(queue.TryClaim(key), Claim::kMine);
        EXPECT_TRUE(queue.Commit(key, fmt::format("result {} of {}", key, name)));
      }
    }
    Database database(Options());
    StoreFile(database, FindOrMakeRun(database, {"rows", "a"}, "{}").id, "a.jsonl", "rows");
  }

  static std::vector<RunCheck> Check(const std::string& only = "") {
    Database database(Options());
    return CheckRuns(database, only);
  }
};

TEST_F(StoreCheckTest, ReadsEveryResultAndFile) {
  const std::vector<RunCheck> runs = Check();
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].kind + " " + runs[0].name, "trees a");
  EXPECT_EQ(runs[0].results, 2) << "a task without a result is none";
  EXPECT_EQ(runs[0].files, 0);
  EXPECT_EQ(runs[2].kind, "rows");
  EXPECT_EQ(runs[2].files, 1);
  for (const RunCheck& run : runs) EXPECT_THAT(run.damaged, IsEmpty());
  EXPECT_EQ(ExitCodeOf(runs), ExitCode::kOk);
  EXPECT_EQ(Check("b").size(), 1U);
}

TEST_F(StoreCheckTest, ReportsWhatIsDamagedAndSetsItsTaskFree) {
  server().Ask(
      "UPDATE agentr.task SET body = '' WHERE key = 1 AND run = (SELECT id FROM agentr.run"
      " WHERE name = 'b' AND kind = 'trees')");
  server().Ask("UPDATE agentr.file SET body = ''");
  const std::vector<RunCheck> runs = Check();
  EXPECT_THAT(runs[0].damaged, IsEmpty());
  EXPECT_THAT(runs[1].damaged,
              ElementsAre(AllOf(HasSubstr("task 1 is damaged"), HasSubstr("free again"))));
  EXPECT_THAT(runs[2].damaged,
              ElementsAre(AllOf(HasSubstr("file a.jsonl is damaged"), HasSubstr("path_collect"))));
  EXPECT_EQ(ExitCodeOf(runs), ExitCode::kIncomplete);
  EXPECT_THAT(CheckTable(runs), AllOf(HasSubstr("trees b"), HasSubstr("task 1 is damaged")));
  EXPECT_EQ(ToJson(runs)[1]["damaged"].size(), 1U);
  Database database(Options());
  const RunStatus status = ReadStatus(database, "b")[0];
  EXPECT_EQ(status.done, 1);
  EXPECT_EQ(status.failed, 1);
  EXPECT_THAT(status.last_error, HasSubstr("damaged"));
  EXPECT_THAT(Check("b")[0].damaged, IsEmpty()) << "there is nothing damaged any more";
}

}  // namespace
}  // namespace agentr
