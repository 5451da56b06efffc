// Files of demonstrations as the program writes them.
#include "demos/make_demos.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "common/options.h"
#include "games/textcraft/recipe_book.h"
#include "games/textcraft/recipe_folder.h"
#include "games/textcraft/recipe_text.h"
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

TEST(MakeDemos, HeldOutBooksHaveAsManyTasksAsTheBuiltInOneAndOtherNames) {
  const ScratchFolder folder;
  MakeDemosOptions options;
  options.output_dir = folder.path().string();
  options.textcraft_books = 0;
  options.webshop_shops = 0;
  options.chat_rows = 0;
  options.held_out_books = 2;
  OptionSet set("make_demos", "");
  Declare(set, options);
  ASSERT_EQ(MakeDemos(options, set), ExitCode::kOk);
  const RecipeBook built_in(BuiltInRecipes());
  const RecipeBook first(ReadRecipeFolder(folder.path() / "held_out" / "0"));
  const RecipeBook second(ReadRecipeFolder(folder.path() / "held_out" / "1"));
  EXPECT_NE(first.CanonicalDump(), second.CanonicalDump());
  EXPECT_GE(first.tasks().size(), 500U);
  size_t same_names = 0;
  for (const NameId task : first.tasks()) {
    if (built_in.Find(first.Name(task))) ++same_names;
  }
  EXPECT_LT(same_names, first.tasks().size() / 20);
}

}  // namespace
}  // namespace agentr
