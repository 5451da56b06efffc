#include "servers/sciworld/libjvm_path.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/program.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

class LibJvmPathTest : public ::testing::Test {
 protected:
  // A Java in the folder `name`; its libjvm.so.
  fs::path Java(const std::string& name) {
    const fs::path home = scratch_.path() / name;
    fs::create_directories(home / "bin");
    fs::create_directories(home / "lib/server");
    std::ofstream(home / "bin/java") << "";
    std::ofstream(home / "lib/server/libjvm.so") << "";
    return fs::canonical(home) / "lib/server/libjvm.so";
  }

  ScratchFolder scratch_;
  const fs::path none_ = scratch_.path() / "none";
};

TEST_F(LibJvmPathTest, JavaHomeThenThePathThenTheUsualPlaces) {
  const fs::path home = Java("home");
  const fs::path on_path = Java("real");
  const fs::path usual = Java("usual/b");
  Java("usual/c");
  fs::create_directories(scratch_.path() / "usual/a");  // no Java
  fs::create_directories(scratch_.path() / "bin");
  fs::create_symlink(scratch_.path() / "real/bin/java", scratch_.path() / "bin/java");
  JavaPlaces places{.java_home = (scratch_.path() / "home").string(),
                    .path = "/nowhere:" + (scratch_.path() / "bin").string(),
                    .machines = scratch_.path() / "usual"};
  EXPECT_EQ(fs::canonical(*FindLibJvm(places)), home);
  places.java_home = "/nowhere";
  EXPECT_EQ(FindLibJvm(places), on_path);
  places.path = "";
  EXPECT_EQ(fs::canonical(*FindLibJvm(places)), usual);
}

TEST_F(LibJvmPathTest, NothingWhereThereIsNone) {
  EXPECT_EQ(FindLibJvm({.java_home = "", .path = "", .machines = none_}), std::nullopt);
}

}  // namespace
}  // namespace agentr
