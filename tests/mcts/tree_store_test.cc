#include "mcts/tree_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/fatal_error.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Tree TreeOf(int task_id) {
  Tree tree({"toy", task_id, "m", "h", "{}"}, {{"user", "Play."}}, "Start");
  tree.BackUp(tree.Add(0, Turn("win", "Won!", 1, End::kDone)));
  return tree;
}

class TreeStoreTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  FileTreeStore store_{folder_.path(), TreeFormat::kCompact};
};

TEST_F(TreeStoreTest, ACommittedTreeIsDone) {
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
  store_.Commit(TreeOf(4));
  EXPECT_EQ(store_.TryClaim(4), Claim::kDone);
  EXPECT_EQ(store_.TryClaim(4), Claim::kDone) << "asking claims nothing";
  EXPECT_EQ(store_.Load(4).node(1).observation, "Won!");
  EXPECT_EQ(store_.Load(4).origin().task_id, 4);
  EXPECT_THAT(folder_.Names(), ElementsAre(".claims", "search_results_4.json"));
}

TEST_F(TreeStoreTest, WritesTheFormatItWasGiven) {
  FileTreeStore agent_r(folder_.path() / "deeper" / "still", TreeFormat::kAgentR);
  ASSERT_EQ(agent_r.TryClaim(0), Claim::kMine);
  agent_r.Commit(TreeOf(0));
  EXPECT_EQ(ReadFile(agent_r.PathOf(0)), WriteTree(TreeOf(0), TreeFormat::kAgentR));
  EXPECT_EQ(agent_r.Load(0).node(1).observation, "Won!") << "reading tells the formats apart";
}

TEST_F(TreeStoreTest, AClaimIsOnce) {
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
  EXPECT_EQ(store_.TryClaim(4), Claim::kTaken);
  EXPECT_EQ(store_.TryClaim(5), Claim::kMine);
  store_.Release(4, "");
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
}

TEST_F(TreeStoreTest, AnotherRunSeesTheClaims) {
  FileTreeStore other(folder_.path(), TreeFormat::kCompact);
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
  EXPECT_EQ(other.TryClaim(4), Claim::kTaken);
  EXPECT_EQ(other.TryClaim(5), Claim::kMine);
  EXPECT_EQ(store_.TryClaim(5), Claim::kTaken);
  store_.Commit(TreeOf(4));
  EXPECT_EQ(other.TryClaim(4), Claim::kDone);
  other.Release(5, "");
  EXPECT_EQ(store_.TryClaim(5), Claim::kMine);
}

TEST_F(TreeStoreTest, TheEndOfARunFreesItsClaims) {
  {
    FileTreeStore killed(folder_.path(), TreeFormat::kCompact);
    EXPECT_EQ(killed.TryClaim(4), Claim::kMine);
  }
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
}

TEST_F(TreeStoreTest, AClaimRemovesWhatAKilledRunLeft) {
  std::ofstream(TemporaryPath(store_.PathOf(4))) << "half a tr";
  EXPECT_EQ(store_.TryClaim(4), Claim::kMine);
  EXPECT_THAT(folder_.Names(), ElementsAre(".claims"));
}

TEST_F(TreeStoreTest, OnlyOneOfManyThreadsGetsAClaim) {
  FileTreeStore other(folder_.path(), TreeFormat::kCompact);
  constexpr int kTasks = 100;
  std::vector<std::atomic<int>> owners(kTasks);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int task_id = 0; task_id < kTasks; ++task_id) {
        FileTreeStore& store = t % 2 == 0 ? store_ : other;
        if (store.TryClaim(task_id) == Claim::kMine) ++owners[static_cast<size_t>(task_id)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : owners) EXPECT_EQ(count, 1);
}

TEST_F(TreeStoreTest, AFullDiskLeavesNothingAndFreesTheClaim) {
  ASSERT_EQ(store_.TryClaim(4), Claim::kMine);
  {
    const FileSizeLimit full_disk(/*bytes=*/50);
    EXPECT_THROW(store_.Commit(TreeOf(4)), FatalError);
  }
  EXPECT_THAT(folder_.Names(), ElementsAre(".claims"));
  ASSERT_EQ(store_.TryClaim(4), Claim::kMine);
  store_.Commit(TreeOf(4));
  EXPECT_EQ(store_.TryClaim(4), Claim::kDone);
}

TEST_F(TreeStoreTest, AFolderThatCannotBeMadeIsAnError) {
  const fs::path file = folder_.path() / "file";
  std::ofstream(file) << "no folder";
  EXPECT_THAT(
      FileErrorOf([&] { const FileTreeStore store(file / "results", TreeFormat::kCompact); }),
      AllOf(HasSubstr((file / "results").string()), HasSubstr("choose another output folder")));
}

TEST_F(TreeStoreTest, AFolderThatVanishedIsAnErrorOfCommit) {
  ASSERT_EQ(store_.TryClaim(4), Claim::kMine);
  fs::remove_all(folder_.path());
  std::ofstream(folder_.path()) << "a file in its place";
  EXPECT_THROW(store_.Commit(TreeOf(4)), FatalError);
  fs::remove(folder_.path());
}

TEST_F(TreeStoreTest, LoadingWhatIsNotThereOrBrokenNamesTheFile) {
  EXPECT_THROW(store_.Load(9), FatalError);
  std::ofstream(store_.PathOf(9)) << "{\"format\":";
  EXPECT_THAT(FileErrorOf([&] { store_.Load(9); }), HasSubstr("search_results_9.json:1:"));
}

TEST_F(TreeStoreTest, ALockThatCannotBeAskedForIsAnError) {
  EXPECT_THROW(store_.TryClaim(-1), FatalError) << "no byte of the file has this number";
}

}  // namespace
}  // namespace agentr
