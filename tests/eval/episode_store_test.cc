#include "eval/episode_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/rollout/hand_episode.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EpisodeStoreTest : public ::testing::Test {
 protected:
  void Play(int task_id, int attempt) {
    ASSERT_EQ(store_.TryClaim(task_id, attempt), Claim::kMine);
    store_.Commit(HandEpisode(task_id, attempt, 0.5, {"look"}));
  }

  ScratchFolder folder_;
  FileEpisodeStore store_{folder_.path(), R"({"max_steps":30})"};
};

TEST_F(EpisodeStoreTest, NamesTheFirstAttemptAsAgentRDoes) {
  Play(31, 0);
  Play(31, 2);
  EXPECT_THAT(folder_.Names(),
              ElementsAre(".claims", "search_results_31.json", "search_results_31_2.json"));
}

TEST_F(EpisodeStoreTest, AnEpisodeIsClaimedByOne) {
  FileEpisodeStore other(folder_.path(), R"({"max_steps":30})");
  EXPECT_EQ(store_.TryClaim(31, 0), Claim::kMine);
  EXPECT_EQ(store_.TryClaim(31, 0), Claim::kTaken);
  EXPECT_EQ(other.TryClaim(31, 0), Claim::kTaken);
  EXPECT_EQ(other.TryClaim(31, 1), Claim::kMine) << "attempts are claimed one by one";
  EXPECT_EQ(other.TryClaim(0, 31), Claim::kMine);
  store_.Release(31, 0, "");
  EXPECT_EQ(other.TryClaim(31, 0), Claim::kMine);
  other.Commit(HandEpisode(31, 0, 1));
  EXPECT_EQ(store_.TryClaim(31, 0), Claim::kDone);
}

TEST_F(EpisodeStoreTest, LoadsByTaskAndAttempt) {
  Play(100, 1);
  Play(31, 1);
  Play(100, 0);
  std::vector<std::pair<int, int>> keys;
  for (const Episode& episode : store_.Load()) keys.emplace_back(episode.task_id, episode.attempt);
  EXPECT_THAT(keys, ElementsAre(std::pair(31, 1), std::pair(100, 0), std::pair(100, 1)));
}

TEST_F(EpisodeStoreTest, RefusesARunBesideOneOfOtherOptions) {
  EXPECT_THAT(
      FatalErrorOf(ExitCode::kUsage,
                   [&] { FileEpisodeStore(folder_.path(), R"({"max_steps":100})"); }),
      AllOf(HasSubstr("another run is playing"), HasSubstr("max_steps: 30 there, 100 here")));
}

TEST_F(EpisodeStoreTest, RefusesEpisodesOfOtherOptions) {
  const fs::path earlier = folder_.path() / "earlier";
  {
    FileEpisodeStore store(earlier, R"({"max_steps":30})");
    ASSERT_EQ(store.TryClaim(31, 0), Claim::kMine);
    store.Commit(HandEpisode(31, 0, 0.5, {"look"}));
  }
  const FileEpisodeStore other(earlier, R"({"max_steps":100})");
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { other.Load(); }),
              AllOf(HasSubstr("search_results_31.json"), HasSubstr("max_steps: 30 there, 100 here"),
                    HasSubstr("--output_dir")));
}

TEST_F(EpisodeStoreTest, RefusesAFileUnderAnotherName) {
  Play(31, 0);
  fs::rename(store_.PathOf(31, 0), store_.PathOf(32, 0));
  EXPECT_THROW(store_.Load(), FatalError);
}

TEST_F(EpisodeStoreTest, AFolderAboveOneEvaluationNamesIt) {
  Play(31, 0);
  EXPECT_EQ(FindEvaluation(folder_.path()), folder_.path());
  const fs::path above = folder_.path() / "results";
  fs::create_directories(above / "one");
  EXPECT_THROW(FindEvaluation(above), FatalError);
  fs::copy(store_.PathOf(31, 0), above / "one");
  EXPECT_EQ(FindEvaluation(above), above / "one");
  fs::create_directories(above / "deep" / "two");
  fs::copy(store_.PathOf(31, 0), above / "deep" / "two");
  EXPECT_THAT(
      FileErrorOf([&] { FindEvaluation(above); }),
      AllOf(HasSubstr((above / "one").string()), HasSubstr((above / "deep" / "two").string())))
      << "which of the two?";
}

TEST(ReadEpisodes, NeedsAFolder) { EXPECT_THROW(ReadEpisodes("/none/such"), FatalError); }

}  // namespace
}  // namespace agentr
