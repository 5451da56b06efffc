// Files of demonstrations as the program writes them.
#include "demos/make_demos.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "common/options.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

TEST(MakeDemos, AKindThatIsNotAskedForKeepsItsFile) {
  const ScratchFolder folder;
  MakeDemosOptions options;
  options.output_dir = folder.path().string();
  options.textcraft_books = 0;
  options.webshop_shops = 0;
  options.chat_rows = 3;
  WriteFileAtomically(folder.path() / "textcraft.jsonl", "rows of an earlier run\n");
  OptionSet set("make_demos", "");
  Declare(set, options);
  EXPECT_EQ(MakeDemos(options, set), ExitCode::kOk);
  EXPECT_EQ(ReadFile(folder.path() / "textcraft.jsonl"), "rows of an earlier run\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "webshop.jsonl"));
  EXPECT_GT(ReadFile(folder.path() / "chat.jsonl").size(), 0U);
}

}  // namespace
}  // namespace agentr
