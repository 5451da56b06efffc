#include "common/work_claims.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

TEST(WorkClaimsTest, RunsThatShareAFolderKnowTheTermsOfTheFirst) {
  const ScratchFolder folder;
  std::optional<WorkClaims> first(std::in_place, folder.path(), "seed 1");
  EXPECT_EQ(first->terms(), "seed 1");
  const WorkClaims second(folder.path(), "seed 2");
  EXPECT_EQ(second.terms(), "seed 1");
  first.reset();
  EXPECT_EQ(WorkClaims(folder.path(), "seed 3").terms(), "seed 1") << "the second goes on";
}

TEST(WorkClaimsTest, TheTermsEndWithTheLastRun) {
  const ScratchFolder folder;
  EXPECT_EQ(WorkClaims(folder.path(), "a long text").terms(), "a long text");
  const WorkClaims alone(folder.path(), "short");
  EXPECT_EQ(alone.terms(), "short");
  EXPECT_EQ(WorkClaims(folder.path(), "other").terms(), "short");
}

TEST(WorkClaimsTest, ClaimsExcludeEachOtherWhateverTheTerms) {
  const ScratchFolder folder;
  WorkClaims one(folder.path(), "seed 1");
  WorkClaims two(folder.path());
  EXPECT_EQ(one.TryClaim(3, folder / "3"), Claim::kMine);
  EXPECT_EQ(two.TryClaim(3, folder / "3"), Claim::kTaken);
  one.Release(3);
  EXPECT_EQ(two.TryClaim(3, folder / "3"), Claim::kMine);
}

}  // namespace
}  // namespace agentr
