#include "revision/make/task_record.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "tests/common/scratch_folder.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

class TaskRecordTest : public ::testing::Test {
 protected:
  const ScratchFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "records" / "3.json";
  const Tree tree_ = HandTree({{"p g", 1}, {"p a b", 0}});
  const std::vector<Decision> decisions_ = {
      {{{2, 1}, {4, 0.25}, 1},
       {2,
        true,
        {{3, {Judgement::kGood, "Fine \"so\" far.", true}},
         {4, {Judgement::kUncertain, "?", false, ValueChange{{7, 8}, {0, 8}}}}}},
       "no_recipe",
       true,
       7,
       {{Part::kBad, 3, "Thought: I go on.\nAction: a", "a", "saw p a", true},
        {Part::kRevision, -1, "Oh.\nAction: wait", "wait", "ok."}},
       {ReplayOutcome::kDiverged, 0.1, 9, true, {{4, "saw"}, {6, "Crafted\n"}}},
       3,
       1},
      {{{2, 1}, {}, 2}, {}}};
  RevisionCounts counts_;
};

TEST_F(TaskRecordTest, ReadsWhatWasWritten) {
  WriteRecord(path_, "key", decisions_, counts_);
  EXPECT_EQ(ReadRecord(path_, "key", tree_, counts_), decisions_);
}

TEST_F(TaskRecordTest, KeepsWhatWasCountedWhenItWasDecided) {
  counts_.mistakes_found = 3;
  counts_.pairs_found = 8;
  counts_.bad_paths = 3;
  counts_.contradictions = 1;
  WriteRecord(path_, "key", decisions_, counts_);
  RevisionCounts later;
  later.paths = 5;
  ASSERT_TRUE(ReadRecord(path_, "key", tree_, later));
  EXPECT_EQ(later.mistakes_found, 3);
  EXPECT_EQ(later.pairs_found, 8);
  EXPECT_EQ(later.bad_paths, 3);
  EXPECT_EQ(later.contradictions, 1);
  EXPECT_EQ(later.paths, 5);
}

TEST_F(TaskRecordTest, ARecordOfAnEarlierVersionHasNoCounts) {
  WriteFileAtomically(path_, R"({"key":"key","decisions":[]})");
  EXPECT_TRUE(ReadRecord(path_, "key", tree_, counts_));
  EXPECT_EQ(counts_.pairs_found, 0);
  WriteFileAtomically(path_,
                      R"({"key":"key","decisions":[],"counts":{"bad_paths":7,"pairs_found":"x"}})");
  EXPECT_FALSE(ReadRecord(path_, "key", tree_, counts_));
  EXPECT_EQ(counts_.bad_paths, 0) << "a damaged record gives nothing";
}

TEST_F(TaskRecordTest, AnotherKeyIsNoRecord) {
  WriteRecord(path_, "key", decisions_, counts_);
  EXPECT_EQ(ReadRecord(path_, "other", tree_, counts_), std::nullopt);
}

TEST_F(TaskRecordTest, ARecordOfAnotherTreeIsNone) {
  WriteRecord(path_, "key", decisions_, counts_);
  EXPECT_EQ(ReadRecord(path_, "key", HandTree({{"p g", 1}}), counts_), std::nullopt);
}

TEST_F(TaskRecordTest, AMissingOrForeignFileIsNoRecord) {
  EXPECT_EQ(ReadRecord(path_, "key", tree_, counts_), std::nullopt);
  WriteRecord(path_, "key", decisions_, counts_);
  const std::string text = ReadFile(path_);
  WriteFileAtomically(path_, text.substr(0, text.size() / 2));
  EXPECT_EQ(ReadRecord(path_, "key", tree_, counts_), std::nullopt);
  WriteFileAtomically(path_, R"({"key":"key","decisions":[{}]})");
  EXPECT_EQ(ReadRecord(path_, "key", tree_, counts_), std::nullopt);
  WriteFileAtomically(path_, R"({"key":"key","decisions":[{"good":[1,1],"bad":[2,0],"ancestor":0,)"
                             R"("error":{"bad_steps":1,"found":true,"steps":[]},"mistake":"",)"
                             R"("refused":false,"evidence":0,"turns":[],"pruned":0,"recovery":0,)"
                             R"("replay":)"
                             R"({"outcome":"maybe","reward":0,"turns":0,"ended_bad":false,)"
                             R"("observations":[]}}]})");
  EXPECT_EQ(ReadRecord(path_, "key", tree_, counts_), std::nullopt);
}

}  // namespace
}  // namespace agentr
