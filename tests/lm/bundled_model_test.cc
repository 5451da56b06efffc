#include "lm/bundled_model.h"

#include <gmock/gmock.h>

#include "common/file.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class BundledModelTest : public ::testing::Test {
 protected:
  // A folder below the scratch folder that has a model.
  fs::path Place(const std::string& model) const {
    WriteFileAtomically(root_ / model / "config.json", "{}");
    return root_ / model;
  }

  ScratchFolder scratch_;
  const fs::path root_ = scratch_.path();
};

TEST_F(BundledModelTest, IsFoundAboveABuildFolderOfTheSourceTree) {
  const fs::path model = Place("tree/models/bundled");
  EXPECT_EQ(BundledModelFolder(root_ / "tree/build/release/bin"), model);
}

TEST_F(BundledModelTest, IsFoundInAnInstallation) {
  const fs::path model = Place("usr/share/agentr/models/bundled");
  EXPECT_EQ(BundledModelFolder(root_ / "usr/bin"), model);
}

TEST_F(BundledModelTest, TheNearestOneIsTaken) {
  Place("tree/models/bundled");
  const fs::path nearest = Place("tree/build/release/bin/models/bundled");
  EXPECT_EQ(BundledModelFolder(root_ / "tree/build/release/bin"), nearest);
}

TEST_F(BundledModelTest, AFolderWithoutAConfigurationIsNone) {
  fs::create_directories(root_ / "tree/build/models/bundled");
  const fs::path model = Place("tree/models/bundled");
  EXPECT_EQ(BundledModelFolder(root_ / "tree/build/bin"), model);
}

TEST_F(BundledModelTest, WhereThereIsNoneTheMessageNamesTheCure) {
  EXPECT_THAT(FileErrorOf([&] { BundledModelFolder(root_ / "bin"); }),
              AllOf(HasSubstr("--model_dir"), HasSubstr((root_ / "bin").string())));
}

}  // namespace
}  // namespace agentr
