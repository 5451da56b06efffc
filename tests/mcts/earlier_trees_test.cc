#include "mcts/earlier_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "common/error.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class EarlierTreesTest : public ::testing::Test {
 protected:
  TreeOrigin Origin(const SearchOptions& search) const {
    TreeOrigin origin;
    origin.family = "textcraft";
    origin.model = "planner";
    origin.model_identity = "one";
    origin.data_hash = "data";
    origin.search = ToJson(search);
    return origin;
  }

  void Write(int task_id, TreeOrigin origin) {
    origin.task_id = task_id;
    const Tree tree(origin, {}, "A goal.");
    ASSERT_EQ(store_.TryClaim(task_id), Claim::kMine);
    store_.Commit(tree);
  }

  std::string Refusal(const TreeOrigin& origin, const SearchOptions& search, bool mix = false) {
    return FatalErrorOf(ExitCode::kUsage, [&] { CheckEarlierTrees(store_, origin, search, mix); });
  }

  ScratchFolder folder_;
  FileTreeStore store_{folder_.path(), TreeFormat::kCompact};
  SearchOptions search_;
};

TEST_F(EarlierTreesTest, TreesOfTheSameRunPass) {
  EXPECT_EQ(Refusal(Origin(search_), search_), "");
  Write(3, Origin(search_));
  EXPECT_EQ(Refusal(Origin(search_), search_), "");
}

TEST_F(EarlierTreesTest, OtherOptionsAreNamedWhereverTheyStand) {
  SearchOptions other;
  other.seed = 7;
  other.exploration = 0.5;
  Write(3, Origin(other));
  Write(4, Origin(search_));  // the newest tree fits, another one does not
  EXPECT_THAT(Refusal(Origin(search_), search_),
              AllOf(HasSubstr("search_results_3.json"), HasSubstr("--seed 7 there, 0 now"),
                    HasSubstr("--exploration 0.5 there, 0.25 now"), HasSubstr("--output_dir"),
                    HasSubstr("--mix_options 1")));
  EXPECT_EQ(Refusal(Origin(search_), search_, /*mix=*/true), "");
}

TEST_F(EarlierTreesTest, OtherModelsAndDataAreNeverMixed) {
  Write(3, Origin(search_));
  TreeOrigin model = Origin(search_);
  model.model_identity = "two";
  EXPECT_THAT(Refusal(model, search_, /*mix=*/true), HasSubstr("another model"));
  TreeOrigin data = Origin(search_);
  data.data_hash = "other";
  EXPECT_THAT(Refusal(data, search_, /*mix=*/true), HasSubstr("other data"));
}

TEST_F(EarlierTreesTest, AnotherTaskFileIsNamedAsTheReason) {
  TreeOrigin earlier = Origin(search_), changed = earlier;
  earlier.data_hash = "server+one";
  changed.data_hash = "server+two";
  Write(3, earlier);
  EXPECT_THAT(Refusal(changed, search_, /*mix=*/true), HasSubstr("another task file"));
  changed.data_hash = "another+one";
  EXPECT_THAT(Refusal(changed, search_, /*mix=*/true), HasSubstr("other data"));
}

TEST_F(EarlierTreesTest, ARunThatHasWrittenNoTreeYetIsNotMixedWithEither) {
  SearchOptions other;
  other.seed = 7;
  std::optional<FileTreeStore> first(std::in_place, folder_.path() / "shared", TreeFormat::kAgentR,
                                     CommonText(Origin(other), other));
  const auto join = [&](bool mix) {
    const FileTreeStore store(folder_.path() / "shared", TreeFormat::kCompact,
                              CommonText(Origin(search_), search_));
    CheckEarlierTrees(store, Origin(search_), search_, mix);
  };
  EXPECT_NO_THROW(join(/*mix=*/true));
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { join(/*mix=*/false); }),
              AllOf(HasSubstr("another run is searching"), HasSubstr("shared"),
                    HasSubstr("--seed 7 there, 0 now")));
  first.reset();
  EXPECT_NO_THROW(join(/*mix=*/false));
}

TEST_F(EarlierTreesTest, WhatIsNoTreeIsMovedAside) {
  for (const char* text : {"", "{\"format\":", "[1, 2]", "not json"}) {
    std::ofstream(store_.PathOf(5)) << text;
    CheckEarlierTrees(store_, Origin(search_), search_, false);
    EXPECT_FALSE(fs::exists(store_.PathOf(5))) << text;
    EXPECT_TRUE(fs::exists(store_.PathOf(5).string() + ".corrupt")) << text;
    EXPECT_EQ(store_.TryClaim(5), Claim::kMine) << text;
    store_.Release(5, "");
  }
}

TEST(SearchDifferencesTest, SaysWhatIsOnlyOnOneSide) {
  EXPECT_EQ(SearchDifferences(R"({"a": 1, "b": 2})", R"({"a": 1, "c": 3})"),
            "--exploration nothing there, 3 now; --b 2 there, nothing now");
  EXPECT_EQ(SearchDifferences("", R"({"a": 1})"), "they are unknown");
}

}  // namespace
}  // namespace agentr
