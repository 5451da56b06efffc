#include "demos/chat_demos.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <string_view>

#include "common/random.h"
#include "demos/varied_book.h"

namespace agentr {
namespace {

// Some words, most of them as words of a language are: with a blank between them.
std::vector<std::string> AnyWords(const std::vector<std::string>& words, size_t least, size_t most,
                                  RandomStream& random) {
  std::vector<std::string> some(least + random.Below(most - least + 1));
  for (std::string& word : some) word = random.Pick(words);
  return some;
}

std::vector<Message> Repetition(const std::vector<std::string>& words, RandomStream& random) {
  static constexpr std::array<std::string_view, 4> kAsked = {
      "Say this again:", "Repeat these words:", "Please write the same:", "Once more:"};
  const std::string text = fmt::format("{}", fmt::join(AnyWords(words, 4, 20, random), " "));
  return {{"user", fmt::format("{} {}", random.Pick(kAsked), text)},
          {"assistant", fmt::format("Again: {}", text)}};
}

struct ShortRecipe {
  std::string item;
  std::string parts;
  uint64_t count;
};

ShortRecipe AnyRecipe(const std::vector<std::string>& words, RandomStream& random) {
  const auto name = [&] {
    return fmt::format("{}", fmt::join(AnyWords(words, 1, 3, random), " "));
  };
  ShortRecipe recipe{name(), "", 1 + random.Below(6)};
  const uint64_t parts = 1 + random.Below(3);
  for (uint64_t i = 0; i < parts; ++i) {
    recipe.parts += fmt::format("{}{} {}", i == 0 ? "" : ", ", 1 + random.Below(9), name());
  }
  return recipe;
}

// In the words of TextCraft's first observation (games/textcraft) and of textcraft_teacher.h.
std::vector<Message> RecipeQuestion(const std::vector<std::string>& words, RandomStream& random) {
  std::vector<ShortRecipe> recipes(1 + random.Below(6));
  std::string question = "Crafting commands:\n";
  for (ShortRecipe& recipe : recipes) {
    recipe = AnyRecipe(words, random);
    question += fmt::format("craft {} {} using {}\n", recipe.count, recipe.item, recipe.parts);
  }
  question += "\nQuestion: what do these take:";
  std::string answer;
  std::string_view separator;
  for (const ShortRecipe& asked : random.Sample(recipes, 4)) {
    question += fmt::format("{} {}", separator, asked.item);
    answer += fmt::format("{}{} using {} makes {}.", answer.empty() ? "" : " ", asked.item,
                          asked.parts, asked.count);
    separator = ",";
  }
  return {{"user", question + "?"}, {"assistant", answer}};
}

}  // namespace

std::vector<DemoRow> ChatDemos(uint64_t seed, int part, int count) {
  const std::vector<std::string> words = AllDemoWords();
  std::vector<DemoRow> rows;
  for (int i = 0; i < count; ++i) {
    RandomStream random = RandomStream(seed)
                              .Split("chat demos")
                              .Split(static_cast<uint64_t>(part))
                              .Split(static_cast<uint64_t>(i));
    rows.push_back(MakeDemoRow(
        fmt::format("chat-{}-{}", part, i),
        random.Chance(0.4) ? Repetition(words, random) : RecipeQuestion(words, random), {0, 1}));
  }
  return rows;
}

}  // namespace agentr
