#include "revision/task_record.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

class TaskRecordTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "records" / "3.json";
  const std::vector<Decision> decisions_ = {
      {{{5, 1}, {7, 0.25}, 2},
       {2,
        true,
        {{3, {Judgement::kGood, "Fine \"so\" far.", true}},
         {7, {Judgement::kUncertain, "?", false}}}},
       {ReplayOutcome::kDiverged, 0.1, 9, true, {{4, "saw"}, {6, "Crafted\n"}}}},
      {{{5, 1}, {}, 5}, {}, {}}};
};

TEST_F(TaskRecordTest, ReadsWhatWasWritten) {
  WriteRecord(path_, "key", decisions_);
  EXPECT_EQ(ReadRecord(path_, "key"), decisions_);
}

TEST_F(TaskRecordTest, AnotherKeyIsNoRecord) {
  WriteRecord(path_, "key", decisions_);
  EXPECT_EQ(ReadRecord(path_, "other"), std::nullopt);
}

TEST_F(TaskRecordTest, AMissingOrForeignFileIsNoRecord) {
  EXPECT_EQ(ReadRecord(path_, "key"), std::nullopt);
  WriteRecord(path_, "key", decisions_);
  const std::string text = ReadFile(path_);
  WriteFileAtomically(path_, text.substr(0, text.size() / 2));
  EXPECT_EQ(ReadRecord(path_, "key"), std::nullopt);
  WriteFileAtomically(path_, R"({"key":"key","decisions":[{}]})");
  EXPECT_EQ(ReadRecord(path_, "key"), std::nullopt);
  WriteFileAtomically(path_, R"({"key":"key","decisions":[{"good":[1,1],"bad":[2,0],"ancestor":0,)"
                             R"("error":{"bad_steps":1,"found":true,"steps":[]},"replay":)"
                             R"({"outcome":"maybe","reward":0,"turns":0,"ended_bad":false,)"
                             R"("observations":[]}}]})");
  EXPECT_EQ(ReadRecord(path_, "key"), std::nullopt);
}

}  // namespace
}  // namespace agentr
