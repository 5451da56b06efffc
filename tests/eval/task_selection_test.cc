#include "eval/task_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/file.h"
#include "tasks/splits.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ExitCode CodeOf(const TaskSelection& selection, const std::string& family, int64_t tasks) {
  try {
    SelectTasks(selection, family, tasks);
  } catch (const FatalError& error) {
    return error.code();
  }
  return ExitCode::kOk;
}

TEST(SelectTasks, TakesTheTestSplitAsItIsPublished) {
  EXPECT_EQ(SelectTasks({}, "webshop", 0), SplitOf("webshop").test());
  EXPECT_EQ(SelectTasks({}, "webshop", 0).size(), 200U);
  EXPECT_EQ(SelectTasks({}, "textcraft", 544).size(), 100U);
}

TEST(SelectTasks, CountsPlacesNotIds) {
  const std::vector<int>& test = SplitOf("webshop").test();
  EXPECT_THAT(SelectTasks({"test", 1, 3}, "webshop", 0), ElementsAre(test[1], test[2]));
  EXPECT_EQ(SelectTasks({"test", 199, 300}, "webshop", 0).size(), 1U);
  EXPECT_EQ(CodeOf({"test", 200, 300}, "webshop", 0), ExitCode::kUsage) << "nothing is selected";
}

TEST(SelectTasks, TrainIsAllButTheTestIds) {
  const std::vector<int> train = SelectTasks({"train"}, "textcraft", 544);
  EXPECT_EQ(train.size(), 444U);
  for (const int id : train) EXPECT_FALSE(SplitOf("textcraft").IsTest(id));
  EXPECT_EQ(SelectTasks({"all"}, "textcraft", 544).size(), 544U);
  EXPECT_THAT(SelectTasks({"all", 3, 5}, "textcraft", 0), ElementsAre(3, 4));
}

TEST(SelectTasks, SaysWhereNoTestIdsArePublished) {
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { SelectTasks({}, "chess", 0); }),
              HasSubstr("no test ids are published for chess"));
}

TEST(SelectTasks, NeedsToKnowWhereToStop) {
  EXPECT_EQ(CodeOf({"all"}, "textcraft", 0), ExitCode::kUsage);
  EXPECT_EQ(CodeOf({"train"}, "webshop", 0), ExitCode::kUsage);
}

TEST(SelectTasks, LeavesOutWhatTheServerDoesNotHave) {
  const std::vector<int> ids = SelectTasks({}, "textcraft", 100);
  EXPECT_LT(ids.size(), 100U);
  for (const int id : ids) EXPECT_LT(id, 100);
}

TEST(SelectTasks, ReadsIdsFromAFile) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ids";
  const auto ids = [&](const std::string& text) {
    WriteFileAtomically(path, text);
    return SelectTasks({path.string()}, "textcraft", 544);
  };
  EXPECT_THAT(ids("31\n7\n\n31\r\n100"), ElementsAre(31, 7, 100)) << "each once, in its order";
  EXPECT_THAT(ids("[31, 7,\n100]"), ElementsAre(31, 7, 100));
  for (const char* text :
       {"", "one", "3.5", "-1", "[1, \"2\"]", "{\"test\": [1]}", "99999999999"}) {
    WriteFileAtomically(path, text);
    EXPECT_EQ(CodeOf({path.string()}, "textcraft", 544), ExitCode::kUsage) << text;
  }
  EXPECT_EQ(CodeOf({"/none/such"}, "textcraft", 544), ExitCode::kFile);
}

}  // namespace
}  // namespace agentr
