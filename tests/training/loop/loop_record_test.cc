#include "training/loop/loop_record.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

LoopStage Collect(const std::string& password) {
  LoopStage stage;
  stage.name = "iteration_1/collect";
  stage.program = "mcts_collect";
  stage.arguments = {"--max=3", "--store=postgresql://ann:" + password + "@db/x"};
  return stage;
}

TEST(LoopRecord, KeepsArgumentsWithoutPasswords) {
  const ScratchFolder folder;
  LoopRecord(folder.path()).Add(Collect("hunter2"), 1, {{"trees", 3}});
  EXPECT_THAT(ReadFile(folder / "loop.json"),
              AllOf(HasSubstr("--store=postgresql://ann:***@db/x"), Not(HasSubstr("hunter2"))));
  const LoopRecord record(folder.path());
  EXPECT_TRUE(record.Has(Collect("hunter2")));
  EXPECT_TRUE(record.Has(Collect("changed"))) << "another password is no other argument";
  LoopStage other = Collect("hunter2");
  other.arguments[0] = "--max=4";
  try {
    record.Has(other);
    ADD_FAILURE();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("new are --max=4)"), Not(HasSubstr("hunter2"))));
  }
}

// Earlier versions wrote the whole arguments.
TEST(LoopRecord, AnEarlierRecordGoesOnAndLosesItsPasswords) {
  const ScratchFolder folder;
  folder.Write("loop.json", R"({"stages":[{"stage":"iteration_1/collect","program":"mcts_collect",)"
                            R"("arguments":["--max=3","--store=postgresql://ann:hunter2@db/x"],)"
                            R"("wall_s":1.0,"result":{"trees":3}}]})");
  LoopRecord record(folder.path());
  EXPECT_TRUE(record.Has(Collect("hunter2")));
  LoopStage next = Collect("hunter2");
  next.name = "iteration_2/collect";
  record.Add(next, 1, {{"trees", 3}});
  EXPECT_THAT(ReadFile(folder / "loop.json"), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace agentr
