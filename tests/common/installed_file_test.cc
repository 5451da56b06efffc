#include "common/installed_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/file.h"

namespace agentr {
namespace {

TEST(InstalledFileTest, LooksBesideAndAboveTheProgram) {
  const std::filesystem::path scratch =
      std::filesystem::path(::testing::TempDir()) / ("installed_" + std::to_string(::getpid()));
  const std::filesystem::path bin = scratch / "usr/bin";
  const std::filesystem::path installed = scratch / "usr/share/agentr/configs/a.toml";
  WriteFileAtomically(installed, "");
  EXPECT_EQ(InstalledFile("configs/a.toml", bin), installed);
  EXPECT_EQ(InstalledFile("configs/b.toml", bin), "configs/b.toml");
  WriteFileAtomically(scratch / "configs/b.toml", "");  // above a build folder
  EXPECT_EQ(InstalledFile("configs/b.toml", bin), scratch / "configs/b.toml");
  EXPECT_EQ(InstalledFile(installed, bin), installed);
  EXPECT_EQ(InstalledFile("", bin), "");
  std::filesystem::remove_all(scratch);
}

}  // namespace
}  // namespace agentr
