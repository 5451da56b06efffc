#include "demos/make_demos.h"

#include <fmt/core.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/options.h"
#include "games/textcraft/recipe_folder.h"

namespace agentr {
namespace {

// A part's rows as lines. Parts are made in parallel and written in their order. Without parts
// there is no file, and one of an earlier run is left as it is.
template <typename MakePart>
size_t WriteParts(const std::filesystem::path& path, int parts, const MakePart& make) {
  if (parts == 0) return 0;
  constexpr int kAtOnce = 64;
  AtomicFile file(path);
  size_t rows = 0;
  for (int begin = 0; begin < parts; begin += kAtOnce) {
    const int count = std::min(kAtOnce, parts - begin);
    std::vector<std::vector<DemoRow>> made(static_cast<size_t>(count));
    tbb::parallel_for(0, count, [&](int i) { made[static_cast<size_t>(i)] = make(begin + i); });
    for (const std::vector<DemoRow>& part : made) {
      for (const DemoRow& row : part) file.Append(row.dump() + "\n");
      rows += part.size();
    }
  }
  file.Commit();
  return rows;
}

void WriteHeldOutBook(const std::filesystem::path& folder, uint64_t seed, int number) {
  const std::vector<SourceRecipe> recipes = HeldOutRecipes(seed, number);
  WriteRecipeFolder(recipes, folder);
  const RecipeBook book(recipes);
  std::map<int, int> tasks_by_depth;
  for (const NameId goal : book.tasks()) ++tasks_by_depth[book.Depth(goal)];
  std::string depths;
  for (const auto& [depth, tasks] : tasks_by_depth) {
    depths += fmt::format("{}{} of depth {}", depths.empty() ? "" : ", ", tasks, depth);
  }
  fmt::print("{}: {} tasks, {}\n", folder.string(), book.tasks().size(), depths);
}

}  // namespace

void Declare(OptionSet& set, MakeDemosOptions& options) {
  set.Group("Output");
  set.Add("--output_dir", options.output_dir, "Folder for the rows").OnlyOutput();
  set.Add("--seed", options.seed, "Seed of every random choice of the run");
  set.Group("Small talk");
  set.Add("--chat_rows", options.chat_rows, "Questions about words and recipes").Min(0);
  set.Group("TextCraft");
  set.Add("--textcraft_books", options.textcraft_books, "Recipe books to play").Min(0);
  set.Add("--scenes", options.textcraft.scenes, "Lists of commands of each book").Min(1);
  set.Add("--goals", options.textcraft.goals, "Most episodes of each list").Min(1);
  set.Add("--questions", options.textcraft.questions,
          "Most commands that the question about a list asks for; 0: no questions")
      .Min(0);
  set.Add("--max_commands", options.textcraft.max_commands,
          "Longest list of commands; longer ones are left out")
      .Min(1);
  set.Add("--slips", options.textcraft.slips,
          "Share of turns in which a mistake is made; it is not trained, what follows it is")
      .Range(0, 1);
  set.Add("--train_slips", options.textcraft.train_slips, "Train the mistakes themselves as well");
  set.Add("--look", options.textcraft.look,
          "After a refused turn look at what is held before the next step");
  set.Add("--show_inventory", options.textcraft.show_inventory,
          "Every reply also says what is held, as with env_server --show_inventory");
  set.Add(
         "--misreadings", options.textcraft.misreadings,
         "Share of the mistakes that come from a misread command: the thought says other "
         "ingredients, and the agent follows it until the game refuses an action; where no command "
         "can be misread, another mistake is made")
      .Range(0, 1);
  set.Add("--beliefs", options.textcraft.beliefs,
          "Share of the mistakes that come from a wrong belief: the thought says that something is "
          "held which is missing; the other mistakes are slips behind a right thought")
      .Range(0, 1);
  set.Add("--built_in", options.textcraft.built_in,
          "Share of the books that are the built-in one, without the goals of its test tasks")
      .Range(0, 1);
  set.Add("--judgements", options.textcraft.judgements,
          "Share of the episodes of which one step is judged, as the verifier actor is asked")
      .Range(0, 1);
  set.Add("--held_out_books", options.held_out_books,
          "Recipe books that no demonstration is of, as folders for env_server --recipes")
      .Min(0);
  set.Group("WebShop");
  set.Add("--webshop_shops", options.webshop_shops, "Generated shops to buy in").Min(0);
  set.Add("--shop_products", options.webshop.products, "Products of each shop").Min(1);
  set.Add("--shop_goals", options.webshop.goals, "Episodes in each shop").Min(1);
  set.Add("--shop_checks", options.webshop.checks,
          "Thoughts first say what the last action did, and name the product that is to be opened");
  set.Add("--shop_slips", options.webshop.slips,
          "Share of turns in which the shop gets another action than the thought speaks of; it is "
          "not trained, what mends it is")
      .Range(0, 1);
}

ExitCode MakeDemos(const MakeDemosOptions& options, const OptionSet& resolved) {
  const std::filesystem::path folder = options.output_dir;
  std::filesystem::create_directories(folder);
  const size_t textcraft =
      WriteParts(folder / "textcraft.jsonl", options.textcraft_books,
                 [&](int book) { return TextCraftDemos(options.textcraft, options.seed, book); });
  const size_t webshop = WriteParts(folder / "webshop.jsonl", options.webshop_shops, [&](int shop) {
    return WebShopDemos(options.webshop, options.seed, shop);
  });
  constexpr int kChatPart = 500;
  const size_t chat = WriteParts(
      folder / "chat.jsonl", (options.chat_rows + kChatPart - 1) / kChatPart, [&](int part) {
        return ChatDemos(options.seed, part,
                         std::min(kChatPart, options.chat_rows - part * kChatPart));
      });
  for (int book = 0; book < options.held_out_books; ++book) {
    WriteHeldOutBook(folder / "held_out" / std::to_string(book), options.seed, book);
  }
  WriteFileAtomically(folder / "resolved.toml", resolved.ResolvedToml());
  fmt::print(
      "{}: {} TextCraft rows of {} books, {} WebShop rows of {} shops, {} rows of small talk\n",
      folder.string(), textcraft, options.textcraft_books, webshop, options.webshop_shops, chat);
  return ExitCode::kOk;
}

}  // namespace agentr
