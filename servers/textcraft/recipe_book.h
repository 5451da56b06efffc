// The recipe book of TextCraft: which items can be crafted, from what, and which tasks that makes.
//
// A book is built from a list of source recipes in a fixed order, wherever they come from (a folder
// of Minecraft JSON files: recipe_folder.h; the project's own text: recipe_text.h). In that order:
//   - a recipe whose only ingredient's name ends in "_block" is dropped;
//   - its group makes the result a member of the tag of that name (the last recipe wins), unless
//     the tag has the item's own name;
//   - a recipe of X with an ingredient that depends on X so far is dropped; an accepted recipe adds
//     its ingredients, and all that those depend on at that moment, to what X depends on.
// Afterwards a tag used as an ingredient that no craftable item is a member of becomes an item.
//
// Depth: 0 without a recipe, else the least over the recipes of the greatest over the ingredients
// of (depth + 1); a name that can only be made from itself has none. Tasks: the craftable items in
// order of their first accepted recipe, stably sorted by depth.
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

// A recipe as a source gives it. Names are full ids: "minecraft:oak_log".
struct SourceIngredient {
  std::string name;
  bool tag = false;  // any member of the tag will do
  int count = 1;

  bool operator==(const SourceIngredient&) const = default;
};

struct SourceRecipe {
  std::string item;
  int count = 1;                     // how many one crafting gives
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
  size_t name_count() const { return entries_.size(); }
  std::optional<NameId> Find(std::string_view name) const;

  bool IsItem(NameId id) const { return entries_[id].is_item; }
  bool IsTag(NameId id) const { return entries_[id].is_tag; }

  // True when recipes make this item, or a member of this tag.
  bool IsCraftable(NameId id) const;
  bool IsMember(NameId item, NameId tag) const { return entries_[item].member_of == tag; }

  // The accepted recipes, in the order of the source; the others are indices into them.
  std::span<const Recipe> recipes() const { return recipes_; }
  std::span<const uint32_t> RecipesOfItem(NameId id) const { return entries_[id].item_recipes; }
  // Recipes that make this item or, where there are none, a member of this tag.
  std::span<const uint32_t> RecipesOf(NameId id) const;
  // Recipes with this ingredient.
  std::span<const uint32_t> UsesOf(NameId id) const { return entries_[id].uses; }

  static constexpr int kNoDepth = -1;
  int Depth(NameId id) const { return entries_[id].depth; }

  // The goals, in task order.
  std::span<const NameId> tasks() const { return tasks_; }

  // A text that two books share exactly when they are the same: for the hash that servers tell.
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

  // Lets Find() look a string_view up without a copy.
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
