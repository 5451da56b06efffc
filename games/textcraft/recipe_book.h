// The recipe book of TextCraft: the craftable items, their ingredients, and the resulting tasks.
//
// A book is built from a list of source recipes in a fixed order, from a folder of Minecraft JSON
// files (recipe_folder.h) or the project's own text (recipe_text.h). In that order:
//   - a recipe whose only ingredient's name ends in "_block" is dropped;
//   - its group makes the result a member of the tag of that name (the last recipe wins), unless
//     the tag has the item's own name;
//   - a recipe of X is dropped if one of its ingredients already depends on X; an accepted recipe
//     adds its ingredients, and everything on which they depend at that moment, to the dependencies
//     of X.
// Afterwards a tag that is used as an ingredient but has no craftable member becomes an item.
//
// Depth: 0 without a recipe, else the minimum over the recipes of the maximum over the ingredients
// of (depth + 1); a name that can only be made from itself has no depth. Tasks: the craftable items
// in the order of their first accepted recipe, stably sorted by depth.
//
// Immutable after construction, so any number of threads may read it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace agentr {

// A recipe of a source. Names are full ids: "minecraft:oak_log".
struct SourceIngredient {
  std::string name;
  bool tag = false;  // any member of the tag will do
  int count = 1;

  bool operator==(const SourceIngredient&) const = default;
};

struct SourceRecipe {
  std::string item;
  int count = 1;                     // number of items that one crafting gives
  std::optional<std::string> group;  // the tag that the item becomes a member of
  std::vector<SourceIngredient> ingredients;

  bool operator==(const SourceRecipe&) const = default;
};

// A name of the book, item or tag: an index into its table of names.
using NameId = uint32_t;

struct Ingredient {
  NameId name;
  bool tag;
  int count;
};

struct Recipe {
  NameId item;
  int count;
  std::vector<Ingredient> ingredients;
};

class RecipeBook {
 public:
  explicit RecipeBook(std::span<const SourceRecipe> source);

  // Every name in order of first mention. "minecraft:oak_log".
  const std::string& Name(NameId id) const { return entries_[id].name; }
  std::optional<NameId> Find(std::string_view name) const;

  bool IsItem(NameId id) const { return entries_[id].is_item; }
  bool IsTag(NameId id) const { return entries_[id].is_tag; }

  // True if recipes make this item, or a member of this tag.
  bool IsCraftable(NameId id) const;
  bool IsMember(NameId item, NameId tag) const { return entries_[item].member_of == tag; }

  // The accepted recipes, in the order of the source; the others are indices into them.
  std::span<const Recipe> recipes() const { return recipes_; }
  std::span<const uint32_t> RecipesOfItem(NameId id) const { return entries_[id].item_recipes; }
  // Recipes that make this item or, if there are none, a member of this tag.
  std::span<const uint32_t> RecipesOf(NameId id) const;
  // Recipes with this ingredient.
  std::span<const uint32_t> UsesOf(NameId id) const { return entries_[id].uses; }

  static constexpr int kNoDepth = -1;
  int Depth(NameId id) const { return entries_[id].depth; }

  // The goals, in task order.
  std::span<const NameId> tasks() const { return tasks_; }

  // A text that is equal for two books exactly if the books are equal; used for the data hash of
  // servers.
  std::string CanonicalDump() const;

 private:
  struct Entry {
    std::string name;
    bool is_item = false;
    bool is_tag = false;
    int depth = kNoDepth;
    std::optional<NameId> member_of;
    std::vector<uint32_t> item_recipes;
    std::vector<uint32_t> tag_recipes;
    std::vector<uint32_t> uses;
  };

  // Lets Find() look up a string_view without a copy.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  NameId Intern(const std::string& name);
  void Accept(std::span<const SourceRecipe> source);
  void TurnMemberlessTagsIntoItems();
  void FindDepths();
  int DepthOf(const Recipe& recipe) const;
  void OrderTasks();

  std::vector<Entry> entries_;
  std::unordered_map<std::string, NameId, NameHash, std::equal_to<>> ids_;
  std::vector<Recipe> recipes_;
  std::vector<NameId> tasks_;
};

}  // namespace agentr
