#include "lm/named_model.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "common/file.h"
#include "common/installed_file.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// With a cache folder of its own.
class NamedModelTest : public ::testing::Test {
 protected:
  NamedModelTest() { setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1); }
  ~NamedModelTest() override { unsetenv("XDG_CACHE_HOME"); }

  ScratchFolder scratch_;
};

TEST_F(NamedModelTest, TheNamesAreKnown) {
  for (const char* name : {"bundled", "smollm2", "gemma3"}) EXPECT_TRUE(IsNamedModel(name)) << name;
  for (const char* name : {"", "planner", "models/bundled"}) EXPECT_FALSE(IsNamedModel(name));
}

TEST_F(NamedModelTest, ADownloadedModelIsFoundWhereTheScriptPutsIt) {
  const fs::path file = CacheFolder() / "SmolLM2-135M-Instruct.Q4_1.gguf";
  EXPECT_EQ(file.parent_path(), scratch_.path() / "agentr");
  WriteFileAtomically(file, "GGUF");
  EXPECT_EQ(NamedModel("smollm2"), file);
}

TEST_F(NamedModelTest, WithoutTheFileTheMessageNamesTheCommand) {
  EXPECT_THAT(FileErrorOf([] { NamedModel("smollm2"); }),
              AllOf(HasSubstr("scripts/setup.sh --smollm2"), HasSubstr(scratch_.path().string())));
}

// The script is text for this program as the program is for the script.
TEST_F(NamedModelTest, TheScriptWritesTheFilesThatAreLookedFor) {
  const std::string script = ReadFile(AGENTR_SOURCE_DIR "/scripts/setup.sh");
  for (const char* name : {"smollm2", "gemma3"}) {
    const std::string message = FileErrorOf([&] { NamedModel(name); });
    const size_t begin = message.find(CacheFolder().string()) + CacheFolder().string().size() + 1;
    const std::string file = message.substr(begin, message.find(')') - begin);
    EXPECT_THAT(script, HasSubstr("fetch " + file + " ")) << name;
  }
}

}  // namespace
}  // namespace agentr
