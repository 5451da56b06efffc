#include "games/textcraft/textcraft.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "common/error.h"
#include "common/hash.h"
#include "common/python_text.h"
#include "common/random.h"
#include "common/text.h"
#include "games/textcraft/textcraft_prompt.h"

namespace agentr {
namespace {

constexpr std::string_view kInventory = "Inventory: ";
constexpr std::string_view kUsing = " using ";

// A dot of the original's regular expressions does not match a line break.
std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

struct Amount {
  std::string_view digits;
  std::string_view item;
};

// "<digits> <item>" at the start of the text.
std::optional<Amount> SplitAmount(std::string_view text) {
  const auto digits =
      static_cast<size_t>(std::ranges::find_if_not(text, IsAsciiDigit) - text.begin());
  if (digits == 0 || digits == text.size() || text[digits] != ' ') return std::nullopt;
  return Amount{text.substr(0, digits), FirstLine(text.substr(digits + 1))};
}

// The number as Python prints it: without leading zeros, of any length.
std::string_view PlainNumber(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

std::optional<int64_t> FitCount(std::string_view digits) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return error == std::errc() ? std::optional(count) : std::nullopt;
}

int64_t AddCounts(int64_t a, int64_t b) {
  return a > std::numeric_limits<int64_t>::max() - b ? std::numeric_limits<int64_t>::max() : a + b;
}

std::string FullName(std::string_view text) {
  std::string name = "minecraft:";
  for (const char c : text) name += c == ' ' ? '_' : c;
  return name;
}

void Add(std::vector<ItemStack>& inventory, NameId item, int64_t count) {
  const auto at = std::ranges::find(inventory, item, &ItemStack::item);
  if (at == inventory.end()) {
    inventory.push_back({item, count});
  } else {
    at->count = AddCounts(at->count, count);
  }
}

// The requested item as Python prints it.
std::string NoSuchRecipe(const std::string& name, bool tag, std::string_view count) {
  const std::string quoted = PythonRepr(name);
  return fmt::format(
      "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag={}, item_id={}), "
      "count={})",
      tag ? quoted : "None", tag ? "None" : quoted, PlainNumber(count));
}

}  // namespace

struct TextCraft::Part {
  // nullopt if the item is unknown, is the name of a tag, or the count is too large: such items are
  // never held.
  std::optional<NameId> item;
  int64_t count;
};

TextCraft::TextCraft(RecipeBook book, bool show_inventory)
    : book_(std::move(book)), show_inventory_(show_inventory) {
  const RandomStream random = RandomStream(kPromptSeed).Split("textcraft");
  for (const NameId goal : book_.tasks()) {
    prompts_.push_back(TextCraftPrompt(book_, goal, random.Split(prompts_.size())));
  }
  if (prompts_.empty()) {
    throw FatalError(ExitCode::kFile, "the recipe book has no craftable item; choose --recipes");
  }
}

uint32_t TextCraft::TaskOf(int64_t data_idx) const {
  const auto count = static_cast<int64_t>(prompts_.size());
  return static_cast<uint32_t>((data_idx % count + count) % count);
}

std::string TextCraft::DataHash() const {
  return Sha256(fmt::format("{}prompts seed={} version={}\n{}", book_.CanonicalDump(), kPromptSeed,
                            kPromptVersion, show_inventory_ ? "inventory shown\n" : ""));
}

void TextCraft::Step(TextCraftState& state, std::string_view action) const {
  state.done = false;
  std::string reply = Reply(state, action);
  if (show_inventory_ && !reply.starts_with(kInventory)) {
    reply += fmt::format("\n{}", Inventory(state));
  }
  state.observation = std::move(reply);
}

std::string TextCraft::Reply(TextCraftState& state, std::string_view action) const {
  const std::string_view line = FirstLine(action);
  constexpr std::string_view kCraft = "craft ";
  constexpr std::string_view kGet = "get ";
  if (line.starts_with(kCraft)) {
    const std::string_view rest = line.substr(kCraft.size());
    const size_t at = rest.rfind(kUsing);
    if (at != std::string_view::npos) {
      return Craft(state, rest.substr(0, at), rest.substr(at + kUsing.size()));
    }
  } else if (line.starts_with(kGet)) {
    if (const auto amount = SplitAmount(line.substr(kGet.size()))) {
      return Get(state, amount->digits, amount->item);
    }
  } else if (line.starts_with("inventory")) {
    return Inventory(state);
  }
  return fmt::format("Could not execute {}", action);
}

std::string TextCraft::Get(TextCraftState& state, std::string_view amount,
                           std::string_view item) const {
  const std::optional<NameId> id = book_.Find(FullName(item));
  if (!id || book_.IsCraftable(*id) || book_.IsTag(*id) || !book_.IsItem(*id)) {
    return fmt::format("Could not find {}", item);
  }
  // Python's integers are unlimited; a number that does not fit here is refused.
  const std::optional<int64_t> count = FitCount(amount);
  const auto held = std::ranges::find(state.inventory, *id, &ItemStack::item);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (!count || (held != state.inventory.end() && held->count > kMost - *count)) {
    return fmt::format("Could not execute get {} {}", amount, item);
  }
  Add(state.inventory, *id, *count);
  return fmt::format("Got {} {}", PlainNumber(amount), item);
}

std::string TextCraft::Inventory(const TextCraftState& state) const {
  std::string text(kInventory);
  if (state.inventory.empty()) return text += "You are not carrying anything.";
  for (const ItemStack& stack : state.inventory) {
    text += fmt::format("[{}] ({}) ", DisplayName(book_.Name(stack.item)), stack.count);
  }
  return text;
}

std::vector<TextCraft::Part> TextCraft::ReadParts(std::string_view text,
                                                  std::string& refusal) const {
  std::vector<Part> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view piece = PythonStrip(text.substr(begin, end - begin));
    const auto amount = SplitAmount(piece);
    if (!amount) {
      refusal = fmt::format("Wrong item format: {}", piece);
      break;
    }
    std::optional<NameId> item = book_.Find(FullName(amount->item));
    const std::optional<int64_t> count = FitCount(amount->digits);
    if ((item && book_.IsTag(*item)) || !count) item.reset();  // so many are never held
    parts.push_back({item, count.value_or(1)});
    begin = end + 1;
  }
  return parts;
}

bool TextCraft::Matches(const Recipe& recipe, const std::vector<Part>& parts) const {
  if (parts.size() != recipe.ingredients.size()) return false;
  std::vector<bool> taken(parts.size(), false);
  for (const Ingredient& want : recipe.ingredients) {
    size_t p = 0;
    while (p < parts.size() && (taken[p] || !(want.tag ? book_.IsMember(*parts[p].item, want.name)
                                                       : parts[p].item == want.name))) {
      ++p;
    }
    if (p == parts.size() || parts[p].count != want.count) return false;
    taken[p] = true;
  }
  return true;
}

const Recipe* TextCraft::FindRecipe(NameId item, const std::vector<Part>& parts) const {
  for (const uint32_t r : book_.RecipesOfItem(item)) {
    if (Matches(book_.recipes()[r], parts)) return &book_.recipes()[r];
  }
  return nullptr;
}

std::string TextCraft::Craft(TextCraftState& state, std::string_view made,
                             std::string_view used) const {
  std::string refusal;
  const std::vector<Part> parts = ReadParts(used, refusal);
  if (!refusal.empty()) return refusal;

  const auto amount = SplitAmount(made);
  const std::string name = FullName(amount ? amount->item : made);
  const std::optional<NameId> item = book_.Find(name);
  const bool tag = item && book_.IsTag(*item);
  const auto not_enough = [&] {
    return fmt::format("Could not find enough items to craft {}", tag ? "None" : name);
  };
  if (!HoldsEach(state, parts)) return not_enough();
  const Recipe* recipe = item && !tag ? FindRecipe(*item, parts) : nullptr;
  if (!recipe) return NoSuchRecipe(name, tag, amount ? amount->digits : "1");
  if (!Remove(state, parts)) return not_enough();
  Add(state.inventory, recipe->item, recipe->count);
  state.done = recipe->item == book_.tasks()[state.task_id];
  return fmt::format("Crafted {} {}", recipe->count, name);
}

bool TextCraft::HoldsEach(const TextCraftState& state, const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, [&](const Part& part) {
    const auto at = std::ranges::find(state.inventory, part.item, &ItemStack::item);
    return at != state.inventory.end() && at->count >= part.count;
  });
}

// Two parts may name the same item (a tag's member and the item itself): each alone may be held,
// but not both together. The original's count becomes negative then.
bool TextCraft::Remove(TextCraftState& state, const std::vector<Part>& parts) {
  std::vector<ItemStack> left = state.inventory;
  for (const Part& part : parts) {
    const auto stack = std::ranges::find(left, part.item, &ItemStack::item);
    if (stack == left.end() || stack->count < part.count) return false;
    stack->count -= part.count;
    if (stack->count == 0) left.erase(stack);
  }
  state.inventory = std::move(left);
  return true;
}

}  // namespace agentr
