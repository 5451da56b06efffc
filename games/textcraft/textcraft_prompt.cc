#include "games/textcraft/textcraft_prompt.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

namespace agentr {
namespace {

constexpr size_t kUsesPerIngredient = 10;
constexpr size_t kDistractors = 10;

std::string CommandLine(const RecipeBook& book, const Recipe& recipe) {
  std::string line =
      fmt::format("craft {} {} using ", recipe.count, DisplayName(book.Name(recipe.item)));
  std::string_view separator;
  for (const Ingredient& part : recipe.ingredients) {
    line += fmt::format("{}{} {}", separator, part.count, DisplayName(book.Name(part.name)));
    separator = ", ";
  }
  return line;
}

// The ingredients, each once, of every recipe on the way to `goal`; their lines go to `lines`.
std::vector<NameId> ShowRecipes(const RecipeBook& book, NameId goal,
                                std::vector<std::string>& lines, std::set<std::string>& shown) {
  std::vector<NameId> reached = {goal};
  std::set<NameId> seen = {goal};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const uint32_t r : book.RecipesOf(reached[i])) {
      const Recipe& recipe = book.recipes()[r];
      std::string line = CommandLine(book, recipe);
      if (shown.insert(line).second) lines.push_back(std::move(line));
      for (const Ingredient& part : recipe.ingredients) {
        if (seen.insert(part.name).second) reached.push_back(part.name);
      }
    }
  }
  reached.erase(reached.begin());
  return reached;
}

}  // namespace

std::string DisplayName(const std::string& name) {
  constexpr std::string_view kNamespace = "minecraft:";
  std::string text = name.starts_with(kNamespace) ? name.substr(kNamespace.size()) : name;
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

std::string TextCraftPrompt(const RecipeBook& book, NameId goal, RandomStream random) {
  std::vector<std::string> lines;
  std::set<std::string> shown;
  const std::vector<NameId> ingredients = ShowRecipes(book, goal, lines, shown);

  std::vector<std::string> others;
  for (const NameId ingredient : ingredients) {
    const auto uses = book.UsesOf(ingredient);
    for (const uint32_t r :
         random.Sample(std::vector(uses.begin(), uses.end()), kUsesPerIngredient)) {
      std::string line = CommandLine(book, book.recipes()[r]);
      if (shown.insert(line).second) others.push_back(std::move(line));
    }
  }
  for (std::string& line : random.Sample(std::move(others), kDistractors)) {
    lines.push_back(std::move(line));
  }
  random.Shuffle(lines);
  return fmt::format("Crafting commands:\n{}\n\nGoal: craft {}.", fmt::join(lines, "\n"),
                     DisplayName(book.Name(goal)));
}

}  // namespace agentr
