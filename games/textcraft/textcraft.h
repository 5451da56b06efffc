// The game TextCraft as pure functions: the player crafts a goal item from items that are free to
// get.
//
// Texts and rules are exactly those of AgentGym's server. Where that server depends on Python's
// hash seed (the other recipes that a task shows, and the order of the lines), this one draws from
// RandomStream(kPromptSeed).Split("textcraft").Split(task) in the book's order, so the same book
// and task give the same text on every machine.
//
// Actions, matched at the start of the text:
//   craft [count] ITEM using N ITEM, N ITEM     get N ITEM     inventory
//
// With `show_inventory` every reply but that to `inventory` also says, on a line of its own, what
// the player then holds, in the same words. AgentGym's server does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "games/textcraft/recipe_book.h"

namespace agentr {

struct ItemStack {
  NameId item;
  int64_t count;

  bool operator==(const ItemStack&) const = default;
};

// One episode. It is a value, so a fork is a copy.
struct TextCraftState {
  uint32_t task_id = 0;
  bool done = false;  // result of the last step; later steps still work
  // In the order of arrival. An item that is used up is removed and later returns at the end; `get
  // 0 x` adds a stack of 0.
  std::vector<ItemStack> inventory;
  std::string observation;  // the last reply; empty before the first step, when the observation is
                            // the prompt

  bool operator==(const TextCraftState&) const = default;
};

// Immutable after construction, so any number of threads may play.
class TextCraft {
 public:
  static constexpr uint64_t kPromptSeed = 42;
  static constexpr int kPromptVersion = 1;  // increased when the same seed gives other texts

  // Throws FatalError(kFile) for a book without tasks.
  explicit TextCraft(RecipeBook book, bool show_inventory = false);

  const RecipeBook& book() const { return book_; }
  size_t task_count() const { return prompts_.size(); }

  // `data_idx` modulo the number of tasks; -1 is the last task.
  uint32_t TaskOf(int64_t data_idx) const;

  // The first observation of a task.
  const std::string& Prompt(uint32_t task_id) const { return prompts_[task_id]; }

  TextCraftState Start(int64_t data_idx) const { return {TaskOf(data_idx), false, {}, {}}; }

  // Plays one action. `state.observation` is the reply; the reward is 1 if `state.done`, else 0.
  void Step(TextCraftState& state, std::string_view action) const;

  const std::string& Observation(const TextCraftState& state) const {
    return state.observation.empty() ? Prompt(state.task_id) : state.observation;
  }

  // SHA-256 of the book, of the seed and version of the prompts, and of `show_inventory`.
  std::string DataHash() const;

 private:
  struct Part;  // one "N ITEM" of a craft action

  std::string Reply(TextCraftState& state, std::string_view action) const;
  std::string Craft(TextCraftState& state, std::string_view made, std::string_view used) const;
  std::string Get(TextCraftState& state, std::string_view amount, std::string_view item) const;
  std::string Inventory(const TextCraftState& state) const;
  std::vector<Part> ReadParts(std::string_view text, std::string& refusal) const;
  static bool HoldsEach(const TextCraftState& state, const std::vector<Part>& parts);
  // Removes nothing and returns false if the inventory does not contain all parts together.
  static bool Remove(TextCraftState& state, const std::vector<Part>& parts);
  const Recipe* FindRecipe(NameId item, const std::vector<Part>& parts) const;
  bool Matches(const Recipe& recipe, const std::vector<Part>& parts) const;

  RecipeBook book_;
  bool show_inventory_;
  std::vector<std::string> prompts_;  // by task
};

}  // namespace agentr
