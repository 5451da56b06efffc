#include "demos/varied_book.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/config_lines.h"
#include "common/text.h"
#include "games/textcraft/recipe_text.h"

namespace agentr {
namespace embedded {
extern const std::string_view kDemoWords;
}

namespace {

constexpr std::string_view kItemNamespace = "minecraft:";
constexpr double kMadeUpWord = 0.06;       // of the words that no list has
constexpr double kNewCount = 0.4;          // of the counts
constexpr double kOtherIngredient = 0.15;  // of the ingredients that are no tags

std::string_view WithoutNamespace(std::string_view name) {
  return name.starts_with(kItemNamespace) ? name.substr(kItemNamespace.size()) : name;
}

std::string MadeUpWord(RandomStream& random) {
  static constexpr std::array<std::string_view, 16> kBegin = {
      "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "br", "tr", "gl"};
  static constexpr std::array<std::string_view, 12> kMiddle = {"a",  "e",  "i",  "o",  "u",  "ar",
                                                               "en", "il", "on", "um", "ra", "el"};
  static constexpr std::array<std::string_view, 10> kEnd = {"d",  "k",  "l",  "n",   "r",
                                                            "st", "th", "sh", "ble", "ver"};
  std::string word;
  const uint64_t syllables = 1 + random.Below(2);
  for (uint64_t i = 0; i < syllables; ++i) {
    word.append(random.Pick(kBegin)).append(random.Pick(kMiddle));
  }
  return word.append(random.Pick(kEnd));
}

// Old words to new ones, no two to the same.
class WordMap {
 public:
  WordMap(const std::set<std::string>& old_words, const std::vector<std::string>& words,
          RandomStream random) {
    std::set<std::string> pool(words.begin(), words.end());
    pool.insert(old_words.begin(), old_words.end());
    std::vector<std::string> shuffled(pool.begin(), pool.end());
    random.Shuffle(shuffled);
    size_t next = 0;
    for (const std::string& word : old_words) {
      std::string& made = words_[word];
      if (random.Chance(kMadeUpWord)) made = MadeUpWord(random);
      if (made.empty() || !pool.insert(made).second) made = shuffled[next++];
    }
  }

  std::string Rename(std::string_view name) const {
    const std::string_view bare = WithoutNamespace(name);
    std::string renamed(name.substr(0, name.size() - bare.size()));
    for (const std::string_view word : SplitWords(bare, "_")) {
      if (!renamed.empty() && renamed.back() != ':') renamed += '_';
      renamed += words_.at(std::string(word));
    }
    return renamed;
  }

 private:
  std::unordered_map<std::string, std::string> words_;
};

template <typename Use>
void ForEachName(const std::vector<SourceRecipe>& recipes, const Use& use) {
  for (const SourceRecipe& recipe : recipes) {
    use(recipe.item);
    if (recipe.group) use(*recipe.group);
    for (const SourceIngredient& part : recipe.ingredients) use(part.name);
  }
}

void VaryCounts(SourceRecipe& recipe, RandomStream& random) {
  static constexpr std::array kMade = {1, 1, 1, 1, 2, 3, 4, 6};
  static constexpr std::array kTaken = {1, 1, 1, 2, 2, 3, 4, 5, 6, 8};
  if (random.Chance(kNewCount)) recipe.count = random.Pick(kMade);
  for (SourceIngredient& part : recipe.ingredients) {
    if (random.Chance(kNewCount)) part.count = random.Pick(kTaken);
  }
}

// Recipes that this closes to a circle are dropped by the book.
void ExchangeIngredients(SourceRecipe& recipe, const std::vector<std::string>& items,
                         RandomStream& random) {
  for (SourceIngredient& part : recipe.ingredients) {
    if (part.tag || !random.Chance(kOtherIngredient)) continue;
    const std::string& other = random.Pick(items);
    const bool there = other == recipe.item ||
                       std::ranges::any_of(recipe.ingredients, [&](const SourceIngredient& i) {
                         return i.name == other;
                       });
    if (!there) part.name = other;
  }
}

std::set<std::string> WordsOf(const std::vector<SourceRecipe>& recipes) {
  std::set<std::string> words;
  ForEachName(recipes, [&](const std::string& name) {
    for (const auto word : SplitWords(WithoutNamespace(name), "_")) words.emplace(word);
  });
  return words;
}

}  // namespace

std::vector<std::string> DemoWords() {
  std::vector<std::string> words;
  ConfigLines lines(embedded::kDemoWords, "configs/demos/words.txt");
  while (lines.Next()) {
    for (const std::string_view word : SplitWords(lines.line())) words.emplace_back(word);
  }
  return words;
}

std::vector<std::string> AllDemoWords() {
  std::set<std::string> words = WordsOf(BuiltInRecipes());
  for (std::string& word : DemoWords()) words.insert(std::move(word));
  return {words.begin(), words.end()};
}

VariedRecipes VaryRecipes(const std::vector<SourceRecipe>& recipes,
                          const std::vector<std::string>& words, RandomStream random) {
  const WordMap names(WordsOf(recipes), words, random.Split("words"));
  VariedRecipes varied{recipes, {}};
  std::set<std::string> items;
  for (SourceRecipe& recipe : varied.recipes) {
    const auto rename = [&](std::string& name) {
      const auto [at, added] = varied.new_names.try_emplace(name);
      if (added) at->second = names.Rename(name);
      name = at->second;
    };
    rename(recipe.item);
    if (recipe.group) rename(*recipe.group);
    for (SourceIngredient& part : recipe.ingredients) {
      rename(part.name);
      if (!part.tag) items.insert(part.name);
    }
  }
  const std::vector<std::string> all(items.begin(), items.end());
  for (SourceRecipe& recipe : varied.recipes) {
    VaryCounts(recipe, random);
    ExchangeIngredients(recipe, all, random);
  }
  return varied;
}

}  // namespace agentr
