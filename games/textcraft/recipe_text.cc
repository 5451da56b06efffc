#include "games/textcraft/recipe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/text.h"

namespace agentr {

namespace embedded {
extern const std::string_view kTextCraftRecipes;
}

namespace {

using Words = std::vector<std::string>;

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

class Parser {
 public:
  explicit Parser(const std::string& name) : name_(name) {}

  std::vector<SourceRecipe> Parse(std::string_view text) {
    for (const std::string_view line : SplitText(text, '\n')) {
      ++line_;
      ParseLine(line);
    }
    JoinTags();
    if (recipes_.empty()) Stop("the file contains no recipe");
    return std::move(recipes_);
  }

 private:
  struct Member {
    std::string item;
    std::string tag;
    size_t line;
  };

  [[noreturn]] void Stop(const std::string& reason) const {
    throw FatalError(ExitCode::kFile, fmt::format("{}:{}: {}", name_, line_, reason));
  }

  void ParseLine(std::string_view line) {
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.find('=', equals + 1) != std::string_view::npos) {
      Stop("expected one '=': item = ingredients, {set} = words, or @tag = items");
    }
    const std::string_view left = Trim(line.substr(0, equals));
    const std::string_view right = Trim(line.substr(equals + 1));
    if (left.empty() || right.empty()) Stop("one side of '=' is empty");
    if (left.front() == '{' && left.find('}') == left.size() - 1) {
      DefineSet(std::string(left), right);
    } else if (left.front() == '@') {
      for (const std::string& item : ExpandWords(right)) AddMember(item, left.substr(1));
    } else {
      for (const std::string& text : Expand(std::string(line))) AddRecipe(text);
    }
  }

  void DefineSet(const std::string& set, std::string_view right) {
    if (!IsName(std::string_view(set).substr(1, set.size() - 2))) {
      Stop(fmt::format("'{}' is not the name of a set: expected a-z, 0-9 and _ in braces", set));
    }
    if (!sets_.emplace(set, ExpandWords(right)).second) {
      Stop(fmt::format("the set {} is defined twice", set));
    }
  }

  // One text per combination of the words of the sets that `text` names.
  Words Expand(const std::string& text) const {
    const size_t begin = text.find('{');
    if (begin == std::string::npos) return {text};
    const size_t end = text.find('}', begin);
    if (end == std::string::npos) Stop("'{' without '}'");
    const std::string set = text.substr(begin, end - begin + 1);
    const auto at = sets_.find(set);
    if (at == sets_.end()) Stop(fmt::format("the set {} is not defined yet; define it above", set));
    Words expanded;
    for (const std::string& word : at->second) {
      std::string one = text;
      ReplaceAll(one, set, word);
      for (std::string& full : Expand(one)) expanded.push_back(std::move(full));
    }
    return expanded;
  }

  Words ExpandWords(std::string_view text) const {
    Words expanded;
    for (const std::string_view word : SplitWords(text)) {
      for (std::string& full : Expand(std::string(word))) expanded.push_back(std::move(full));
    }
    return expanded;
  }

  // "minecraft:x" for "x".
  std::string FullName(std::string_view name) const {
    if (!IsName(name)) Stop(fmt::format("'{}' is not a name: expected a-z, 0-9 and _", name));
    return "minecraft:" + std::string(name);
  }

  // "2 oak_log", "oak_log", "6 @planks".
  SourceIngredient ParseAmount(std::string_view text) const {
    SourceIngredient amount;
    std::vector<std::string_view> words = SplitWords(text);
    if (words.size() == 2) {
      amount.count = ParseNumber<int>(words[0]).value_or(0);
      if (amount.count < 1 || amount.count > 64) {
        Stop(fmt::format("'{}' is not a count from 1 to 64", words[0]));
      }
      words.erase(words.begin());
    }
    if (words.size() != 1)
      Stop(fmt::format("'{}': expected '[count] name', separated by commas", text));
    amount.tag = words[0].front() == '@';
    amount.name = FullName(words[0].substr(amount.tag ? 1 : 0));
    return amount;
  }

  void AddRecipe(const std::string& text) {
    const std::vector<std::string_view> sides = SplitText(text, '=');
    const SourceIngredient made = ParseAmount(sides[0]);
    if (made.tag) Stop(fmt::format("'{}': a recipe makes an item, not a tag", sides[0]));
    SourceRecipe recipe{made.name, made.count, std::nullopt, {}};
    for (const std::string_view part : SplitText(sides[1], ',')) {
      recipe.ingredients.push_back(ParseAmount(part));
      const auto& [name, tag, count] = recipe.ingredients.back();
      if (tag) tag_uses_.try_emplace(name, line_);
      if (std::ranges::count(recipe.ingredients, name, &SourceIngredient::name) > 1) {
        Stop(fmt::format("'{}' names an ingredient twice; add the counts", text));
      }
    }
    recipes_.push_back(std::move(recipe));
  }

  void AddMember(const std::string& item, std::string_view tag) {
    members_.push_back({FullName(item), FullName(tag), line_});
  }

  // Done last, because a tag may be defined before the recipes of its members.
  void JoinTags() {
    std::map<std::string, std::vector<size_t>> recipes_of;
    for (size_t r = 0; r < recipes_.size(); ++r) recipes_of[recipes_[r].item].push_back(r);
    for (const Member& member : members_) {
      line_ = member.line;
      if (recipes_of.contains(member.tag)) {
        Stop(fmt::format("{} is also an item; give the tag another name", member.tag));
      }
      const auto at = recipes_of.find(member.item);
      if (at == recipes_of.end()) {
        Stop(fmt::format("{} has no recipe; members of a tag are craftable", member.item));
      }
      for (const size_t r : at->second) {
        if (recipes_[r].group && *recipes_[r].group != member.tag) {
          Stop(fmt::format("{} is a member of {} already", member.item, *recipes_[r].group));
        }
        recipes_[r].group = member.tag;
      }
      tag_uses_.erase(member.tag);
    }
    if (tag_uses_.empty()) return;
    line_ = tag_uses_.begin()->second;
    Stop(fmt::format("no line defines {}: write @tag = items", tag_uses_.begin()->first));
  }

  const std::string name_;
  size_t line_ = 0;
  std::map<std::string, Words> sets_;
  std::vector<SourceRecipe> recipes_;
  std::vector<Member> members_;
  std::map<std::string, size_t> tag_uses_;  // by tag used as an ingredient: its first line
};

}  // namespace

std::vector<SourceRecipe> ParseRecipeText(std::string_view text, const std::string& name) {
  return Parser(name).Parse(text);
}

std::vector<SourceRecipe> BuiltInRecipes() {
  return ParseRecipeText(embedded::kTextCraftRecipes, "configs/textcraft/recipes.txt");
}

}  // namespace agentr
