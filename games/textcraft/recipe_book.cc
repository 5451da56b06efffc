#include "games/textcraft/recipe_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace agentr {
namespace {

bool IsBlockRecipe(const SourceRecipe& recipe) {
  return recipe.ingredients.size() == 1 && recipe.ingredients[0].name.ends_with("_block");
}

}  // namespace

RecipeBook::RecipeBook(std::span<const SourceRecipe> source) {
  Accept(source);
  TurnMemberlessTagsIntoItems();
  for (uint32_t r = 0; r < recipes_.size(); ++r) {
    for (const Ingredient& ingredient : recipes_[r].ingredients) {
      std::vector<uint32_t>& uses = entries_[ingredient.name].uses;
      if (uses.empty() || uses.back() != r) uses.push_back(r);
    }
  }
  FindDepths();
  OrderTasks();
}

NameId RecipeBook::Intern(const std::string& name) {
  const auto [at, added] = ids_.try_emplace(name, static_cast<NameId>(entries_.size()));
  if (added) entries_.emplace_back().name = name;
  return at->second;
}

std::optional<NameId> RecipeBook::Find(std::string_view name) const {
  const auto at = ids_.find(name);
  return at == ids_.end() ? std::nullopt : std::optional(at->second);
}

bool RecipeBook::IsCraftable(NameId id) const {
  return !entries_[id].item_recipes.empty() || !entries_[id].tag_recipes.empty();
}

std::span<const uint32_t> RecipeBook::RecipesOf(NameId id) const {
  const Entry& entry = entries_[id];
  return entry.item_recipes.empty() ? entry.tag_recipes : entry.item_recipes;
}

void RecipeBook::Accept(std::span<const SourceRecipe> source) {
  std::vector<std::set<NameId>> depends_on;  // by name; extended by each accepted recipe
  for (const SourceRecipe& from : source) {
    Recipe recipe{0, from.count, {}};
    for (const SourceIngredient& part : from.ingredients) {
      const NameId name = Intern(part.name);
      (part.tag ? entries_[name].is_tag : entries_[name].is_item) = true;
      recipe.ingredients.push_back({name, part.tag, part.count});
    }
    recipe.item = Intern(from.item);
    entries_[recipe.item].is_item = true;  // also for a dropped recipe: then the item is free to
                                           // get
    if (IsBlockRecipe(from)) continue;

    std::optional<NameId> tag;
    if (from.group) tag = Intern(*from.group);
    if (tag && *tag != recipe.item) {
      entries_[*tag].is_tag = true;
      entries_[recipe.item].member_of = tag;
    }

    depends_on.resize(entries_.size());
    const bool cycle = std::ranges::any_of(recipe.ingredients, [&](const Ingredient& part) {
      return depends_on[part.name].contains(recipe.item);
    });
    if (cycle) continue;
    for (const Ingredient& part : recipe.ingredients) {
      depends_on[recipe.item].insert(part.name);
      const std::set<NameId> more = depends_on[part.name];  // a copy: it may be the same set
      depends_on[recipe.item].insert(more.begin(), more.end());
    }

    const auto index = static_cast<uint32_t>(recipes_.size());
    entries_[recipe.item].item_recipes.push_back(index);
    if (tag) entries_[*tag].tag_recipes.push_back(index);
    recipes_.push_back(std::move(recipe));
  }
}

void RecipeBook::TurnMemberlessTagsIntoItems() {
  std::vector<bool> has_member(entries_.size(), false);
  for (const Entry& entry : entries_) {
    if (entry.member_of && !entry.item_recipes.empty()) has_member[*entry.member_of] = true;
  }
  for (Recipe& recipe : recipes_) {
    for (Ingredient& part : recipe.ingredients) {
      if (!part.tag || has_member[part.name]) continue;
      part.tag = false;
      entries_[part.name].is_tag = false;
      entries_[part.name].is_item = true;
    }
  }
}

int RecipeBook::DepthOf(const Recipe& recipe) const {
  int depth = 0;
  for (const Ingredient& part : recipe.ingredients) {
    const int below = entries_[part.name].depth;
    if (below == kNoDepth) return kNoDepth;
    depth = std::max(depth, below + 1);
  }
  return depth;
}

// Iterates until nothing changes instead of recursing, so a cycle through a tag cannot cause an
// endless loop.
void RecipeBook::FindDepths() {
  for (NameId id = 0; id < entries_.size(); ++id) {
    if (!IsCraftable(id)) entries_[id].depth = 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (NameId id = 0; id < entries_.size(); ++id) {
      for (const uint32_t r : RecipesOf(id)) {
        const int depth = DepthOf(recipes_[r]);
        int& best = entries_[id].depth;
        if (depth == kNoDepth || (best != kNoDepth && best <= depth)) continue;
        best = depth;
        changed = true;
      }
    }
  }
}

void RecipeBook::OrderTasks() {
  for (uint32_t r = 0; r < recipes_.size(); ++r) {
    const NameId item = recipes_[r].item;
    const bool first = entries_[item].item_recipes.front() == r;
    if (first && entries_[item].depth >= 1) tasks_.push_back(item);
  }
  std::ranges::stable_sort(tasks_, {}, [&](NameId item) { return entries_[item].depth; });
}

std::string RecipeBook::CanonicalDump() const {
  std::string dump;
  auto out = std::back_inserter(dump);
  for (const Entry& entry : entries_) {
    fmt::format_to(out, "name {} item={} tag={} depth={} member_of={}\n", entry.name, entry.is_item,
                   entry.is_tag, entry.depth, entry.member_of ? Name(*entry.member_of) : "-");
  }
  for (const Recipe& recipe : recipes_) {
    fmt::format_to(out, "recipe {} {}", recipe.count, Name(recipe.item));
    for (const Ingredient& part : recipe.ingredients) {
      fmt::format_to(out, " {} {}{}", part.count, part.tag ? "@" : "", Name(part.name));
    }
    dump += '\n';
  }
  for (const NameId task_id : tasks_) fmt::format_to(out, "task {}\n", Name(task_id));
  return dump;
}

}  // namespace agentr
