#include "tasks/textcraft/textcraft_conversation.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "common/text.h"
#include "tasks/action_text.h"
#include "tasks/task_family.h"
#include "tasks/textcraft/textcraft_family.h"

namespace agentr {
namespace {

constexpr std::string_view kGoal = "Goal: craft ";
constexpr std::string_view kCraft = "craft ";
constexpr std::string_view kUsing = " using ";

struct Part {
  int count = 1;
  std::string_view name;
};

// "3 oak planks"; without a number the count is 1. Blanks and a full stop at the ends are dropped.
Part ReadPart(std::string_view text) {
  Part part;
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return part;
  text = text.substr(first, text.find_last_not_of(" \n.") - first + 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part.count);
  if (error == std::errc()) text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  part.name = text;
  return part;
}

// Calls `use` with each part of "3 a, 2 b".
template <typename Use>
void ForEachPart(std::string_view list, const Use& use) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    use(ReadPart(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// "4 stick using 2 planks": what is made, and the list of what it takes.
std::pair<std::string_view, std::string_view> SplitCraft(std::string_view text) {
  const size_t split = text.rfind(kUsing);
  if (split == std::string_view::npos) return {ReadPart(text).name, {}};
  return {ReadPart(text.substr(0, split)).name, text.substr(split + kUsing.size())};
}

class Reader {
 public:
  TextCraftView Read(std::string_view first_observation, size_t goal_at) {
    view_.names.reserve(kUsualItems);
    view_.ingredients.reserve(kUsualItems * 2);
    items_.reserve(kUsualItems);
    ReadCommands(first_observation.substr(0, goal_at));
    const std::string_view goal = first_observation.substr(goal_at + kGoal.size());
    view_.goal = Item(ReadPart(goal.substr(0, goal.find('\n'))).name);
    view_.held.resize(view_.names.size());
    view_.not_found.resize(view_.names.size());
    return std::move(view_);
  }

  void Apply(TextCraftView& view, const std::string& action, std::string_view observation) const;

 private:
  static constexpr size_t kUsualItems = 128;
  static constexpr int kNone = -1;
  static constexpr int64_t kMostHeld = 1'000'000;

  void ReadCommands(std::string_view text);
  void ReadCommand(std::string_view line);
  void Remove(TextCraftView& view, std::string_view parts) const;
  void ReadInventory(TextCraftView& view, std::string_view text) const;
  void ApplyRefusal(TextCraftView& view, std::string_view action,
                    std::string_view observation) const;

  int Item(std::string_view name) {
    const auto [at, added] = items_.try_emplace(name, static_cast<int>(view_.names.size()));
    if (added) view_.names.push_back(name);
    return at->second;
  }

  int Find(std::string_view name) const {
    const auto at = items_.find(name);
    return at == items_.end() ? kNone : at->second;
  }

  // Adds to the held items; items that no command names do not matter and are ignored.
  void Add(TextCraftView& view, std::string_view name, int count) const {
    const int item = Find(name);
    if (item == kNone) return;
    int& held = view.held[static_cast<size_t>(item)];
    // A count would be below 0 if the turn that brought the item was removed.
    held = static_cast<int>(std::clamp<int64_t>(int64_t{held} + count, 0, kMostHeld));
  }

  TextCraftView view_;
  std::unordered_map<std::string_view, int> items_;
};

// Lines begin with "craft <number>". Line ends are not used, because stored observations have
// spaces instead.
void Reader::ReadCommands(std::string_view text) {
  const auto next = [&](size_t from) {
    size_t at = text.find(kCraft, from);
    while (at < text.size()) {
      const size_t after = at + kCraft.size();
      const bool starts = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ';
      if (starts && after < text.size() && IsAsciiDigit(text[after])) return at;
      at = text.find(kCraft, after);
    }
    return text.size();
  };
  std::vector<size_t> counts;
  for (size_t at = next(0); at < text.size();) {
    const size_t end = next(at + kCraft.size());
    const size_t before = view_.ingredients.size();
    ReadCommand(text.substr(at + kCraft.size(), end - at - kCraft.size()));
    counts.push_back(view_.ingredients.size() - before);
    at = end;
  }
  // The ingredients do not move any more, so the spans can point to them now.
  size_t begin = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    view_.commands[i].ingredients = std::span(view_.ingredients).subspan(begin, counts[i]);
    begin += counts[i];
  }
}

void Reader::ReadCommand(std::string_view line) {
  const size_t split = line.rfind(kUsing);
  const Part result = ReadPart(line.substr(0, split));
  view_.commands.push_back({Item(result.name), std::max(1, result.count), {}});
  if (split == std::string_view::npos) return;
  ForEachPart(line.substr(split + kUsing.size()), [&](const Part& part) {
    view_.ingredients.push_back({Item(part.name), part.count});
  });
}

void Reader::Remove(TextCraftView& view, std::string_view parts) const {
  ForEachPart(parts, [&](const Part& part) { Add(view, part.name, -part.count); });
}

// "Inventory: [oak planks] (4) [stick] (2) ": the complete list of held items.
void Reader::ReadInventory(TextCraftView& view, std::string_view text) const {
  std::fill(view.held.begin(), view.held.end(), 0);
  for (size_t open = text.find('['); open != std::string_view::npos; open = text.find('[')) {
    text.remove_prefix(open + 1);
    const size_t close = text.find("] (");
    if (close == std::string_view::npos) return;
    Part part = ReadPart(text.substr(close + 3));
    Add(view, text.substr(0, close), part.count);
  }
}

// A server with --show_inventory says behind every reply what is held.
void Reader::Apply(TextCraftView& view, const std::string& action,
                   std::string_view observation) const {
  const size_t shown = observation.find("Inventory:");
  if (shown != 0 && shown != std::string_view::npos) {
    Apply(view, action, observation.substr(0, shown - 1));
    ReadInventory(view, observation.substr(shown));
    return;
  }
  if (observation.starts_with("Got ")) {
    const Part part = ReadPart(observation.substr(4));
    Add(view, part.name, part.count);
    view.wasted_turns = 0;
  } else if (observation.starts_with("Crafted ") && action.starts_with(kCraft)) {
    const auto [made, parts] = SplitCraft(std::string_view(action).substr(kCraft.size()));
    Remove(view, parts);
    Add(view, made, ReadPart(observation.substr(8)).count);
    view.wasted_turns = 0;
  } else if (observation.starts_with("Inventory:")) {
    ReadInventory(view, observation);
    ++view.wasted_turns;
  } else {
    ++view.wasted_turns;
    ApplyRefusal(view, action, observation);
    view.failed_action = action;
  }
}

void Reader::ApplyRefusal(TextCraftView& view, std::string_view action,
                          std::string_view observation) const {
  if (action.starts_with("get ")) {
    const int item = Find(ReadPart(action.substr(4)).name);
    if (item != kNone) view.not_found[static_cast<size_t>(item)] = 1;
  } else if (action.starts_with(kCraft) &&
             observation.starts_with("Could not find a valid recipe")) {
    const auto craft = SplitCraft(action.substr(kCraft.size()));
    const int result = Find(craft.first);
    ForEachPart(craft.second, [&](const Part& part) {
      const int used = Find(part.name);
      if (result != kNone && used != kNone) view.misfits.emplace_back(result, used);
    });
  }
}

// A linear search: there are few names, and each view is used for only a few actions.
std::optional<size_t> ItemNamed(const TextCraftView& view, std::string_view name) {
  const auto at = std::ranges::find(view.names, name);
  if (at == view.names.end()) return std::nullopt;
  return static_cast<size_t>(at - view.names.begin());
}

bool LooksRefusedGet(const TextCraftView& view, std::string_view name) {
  const std::optional<size_t> item = ItemNamed(view, name);
  return !item || view.not_found[*item] != 0 ||
         std::ranges::any_of(view.commands, [&](const CraftCommand& command) {
           return static_cast<size_t>(command.result) == *item;
         });
}

bool LooksRefusedCraft(const TextCraftView& view, std::string_view made, std::string_view parts) {
  const std::optional<size_t> result = ItemNamed(view, made);
  std::vector<int> counts;
  bool missing = !result;
  ForEachPart(parts, [&](const Part& part) {
    const std::optional<size_t> item = ItemNamed(view, part.name);
    missing = missing || !item || view.held[*item] < part.count;
    counts.push_back(part.count);
  });
  if (missing) return true;
  // The members of a kind are not visible, so only the amounts are compared.
  std::ranges::sort(counts);
  return std::ranges::none_of(view.commands, [&](const CraftCommand& command) {
    if (static_cast<size_t>(command.result) != *result) return false;
    std::vector<int> wanted;
    for (const ItemCount& ingredient : command.ingredients) wanted.push_back(ingredient.count);
    std::ranges::sort(wanted);
    return wanted == counts;
  });
}

}  // namespace

std::optional<TextCraftAction> ReadTextCraftAction(const TextCraftView& view,
                                                   std::string_view action) {
  TextCraftAction read;
  bool known = true;
  const auto counted = [&](const Part& part) {
    const std::optional<size_t> item = ItemNamed(view, part.name);
    known = known && item.has_value();
    return ItemCount{static_cast<int>(item.value_or(0)), part.count};
  };
  std::string_view made = action;
  if (action.starts_with("get ")) {
    read.verb = TextCraftVerb::kGet;
    made.remove_prefix(std::string_view("get ").size());
  } else if (action.starts_with(kCraft)) {
    read.verb = TextCraftVerb::kCraft;
    made.remove_prefix(kCraft.size());
    const size_t split = std::min(made.rfind(kUsing), made.size());
    const std::string_view parts = made.substr(std::min(split + kUsing.size(), made.size()));
    ForEachPart(parts, [&](const Part& part) { read.uses.push_back(counted(part)); });
    made = made.substr(0, split);
  } else {
    return std::nullopt;
  }
  const ItemCount item = counted(ReadPart(made));
  read.item = item.item;
  read.count = item.count;
  if (!known) return std::nullopt;
  return read;
}

bool LooksRefused(const TextCraftView& view, std::string_view action) {
  if (action.starts_with("get ")) return LooksRefusedGet(view, ReadPart(action.substr(4)).name);
  if (!action.starts_with(kCraft)) return true;
  const auto [made, parts] = SplitCraft(action.substr(kCraft.size()));
  return LooksRefusedCraft(view, made, parts);
}

std::vector<ItemCount> MissingFor(const TextCraftView& view, std::span<const std::string> actions) {
  std::vector<int> held = view.held;
  std::vector<ItemCount> missing;
  const auto take = [&](const Part& part) {
    const std::optional<size_t> item = ItemNamed(view, part.name);
    if (!item) return;
    const int short_of = std::max(0, part.count - held[*item]);
    held[*item] = std::max(0, held[*item] - part.count);
    if (short_of == 0) return;
    const auto known = std::ranges::find(missing, static_cast<int>(*item), &ItemCount::item);
    if (known != missing.end()) {
      known->count += short_of;
    } else {
      missing.push_back({static_cast<int>(*item), short_of});
    }
  };
  for (const std::string& action : actions) {
    if (action.starts_with("get ")) {
      const Part part = ReadPart(std::string_view(action).substr(4));
      if (const auto item = ItemNamed(view, part.name)) held[*item] += part.count;
    } else if (action.starts_with(kCraft)) {
      const std::string_view craft = std::string_view(action).substr(kCraft.size());
      const auto [made, parts] = SplitCraft(craft);
      ForEachPart(parts, take);
      // The game gives the count of the recipe, which a copied command states.
      if (const auto item = ItemNamed(view, made)) held[*item] += ReadPart(craft).count;
    }
  }
  return missing;
}

std::optional<TextCraftView> ReadTextCraft(std::span<const Message> conversation) {
  size_t goal_at = std::string_view::npos;
  const auto first = std::find_if(conversation.begin(), conversation.end(), [&](const Message& m) {
    goal_at = m.content.find(kGoal);
    return goal_at != std::string::npos;
  });
  if (first == conversation.end()) return std::nullopt;
  Reader reader;
  TextCraftView view = reader.Read(first->content, goal_at);
  std::string action;
  for (auto turn = first + 1; turn != conversation.end(); ++turn) {
    if (turn->role == "assistant") {
      action = CleanTextCraftAction(TextOfAction(turn->content));
    } else if (!action.empty()) {
      reader.Apply(view, std::exchange(action, {}), turn->content);
    }
  }
  return view;
}

}  // namespace agentr
