#include "common/installed_file.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

TEST(InstalledFileTest, LooksBesideAndAboveTheProgram) {
  const ScratchFolder scratch;
  const std::filesystem::path bin = scratch / "usr/bin";
  const std::filesystem::path installed = scratch / "usr/share/agentr/configs/a.toml";
  WriteFileAtomically(installed, "");
  EXPECT_EQ(InstalledFile("configs/a.toml", bin), installed);
  EXPECT_EQ(InstalledFile("configs/b.toml", bin), "configs/b.toml");
  WriteFileAtomically(scratch / "configs/b.toml", "");  // above a build folder
  EXPECT_EQ(InstalledFile("configs/b.toml", bin), scratch / "configs/b.toml");
  EXPECT_EQ(InstalledFile(installed, bin), installed);
  EXPECT_EQ(InstalledFile("", bin), "");
}

}  // namespace
}  // namespace agentr
