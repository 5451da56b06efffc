#include "tasks/textcraft/textcraft_teacher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.h"

namespace agentr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Teacher {
 public:
  explicit Teacher(const TextCraftView& view) : view_(view), entered_(view.names.size()) {}

  std::optional<TaughtStep> Next() {
    ItemCount wanted{view_.goal, 1};
    std::string thought;
    for (size_t depth = 0; depth <= view_.commands.size(); ++depth) {
      const CraftCommand* command = BestCommand(wanted.item);
      if (command == nullptr) {
        if (wanted.item == view_.goal || Cost(wanted.item) == kNever) return std::nullopt;
        return TaughtStep{thought, {TextCraftVerb::kGet, wanted.item, wanted.count, {}}};
      }
      thought += fmt::format("{}{}: ", depth == 0 ? "" : " ", Recital(view_, *command));
      TextCraftAction craft{TextCraftVerb::kCraft, command->result, command->count, {}};
      const std::optional<ItemCount> missing = FirstMissing(*command, wanted.count, craft, thought);
      if (!missing) return TaughtStep{thought, craft};
      wanted = *missing;
    }
    return std::nullopt;
  }

  std::optional<TaughtStep> Explain(TextCraftAction action) {
    TaughtStep step{"", std::move(action)};
    if (!Reach({view_.goal, 1}, step.action, step.thought)) return std::nullopt;
    return step;
  }

 private:
  // Adds the chain of commands from the wanted item down to `action`; false if there is none.
  bool Reach(ItemCount wanted, TextCraftAction& action, std::string& thought);
  bool ReachBy(const CraftCommand& command, int wanted, TextCraftAction& action,
               std::string& thought);
  bool Makes(const CraftCommand& command, const TextCraftAction& action) const;

  int Held(int item) const { return view_.held[static_cast<size_t>(item)]; }
  std::string_view Name(int item) const { return view_.names[static_cast<size_t>(item)]; }

  // What is missing first for `wanted` of the command's result. Adds what is there and what is
  // missing to the thought, and to `craft` what one crafting uses.
  std::optional<ItemCount> FirstMissing(const CraftCommand& command, int wanted,
                                        TextCraftAction& craft, std::string& thought) {
    const int times = (wanted + command.count - 1) / command.count;
    std::string_view separator = "have ";
    for (const ItemCount& part : command.ingredients) {
      const int needed = part.count * times;
      const int item = Filler(part.item, needed);
      const std::string as = item == part.item ? "" : fmt::format("{} as ", Name(part.item));
      if (Held(item) < needed) {
        const int missing = needed - Held(item);
        thought +=
            fmt::format("{}need {} {}{}.", craft.uses.empty() ? "" : ", ", missing, as, Name(item));
        return ItemCount{item, missing};
      }
      thought += fmt::format("{}{}{}", separator, as, Name(item));
      separator = ", ";
      craft.uses.push_back({item, part.count});
    }
    thought += '.';
    return std::nullopt;
  }

  // The cheapest command that makes the item, of equal ones the first that is shown.
  const CraftCommand* BestCommand(int item) {
    const CraftCommand* best = nullptr;
    double least = kNever;
    for (const CraftCommand& command : view_.commands) {
      if (command.result != item) continue;
      const double cost = CostOf(command);
      if (cost < least) {
        least = cost;
        best = &command;
      }
    }
    return best;
  }

  // Actions to have one of the item, about; what is being asked already cannot be part of itself.
  double Cost(int item) {
    char& entered = entered_[static_cast<size_t>(item)];
    if (entered != 0) return kNever;
    entered = 1;
    double least = kNever;
    bool craftable = false;
    for (const CraftCommand& command : view_.commands) {
      if (command.result != item) continue;
      craftable = true;
      least = std::min(least, CostOf(command));
    }
    if (!craftable) {
      for (const int member : Members(item)) least = std::min(least, Cost(member));
      if (least == kNever && view_.not_found[static_cast<size_t>(item)] == 0) least = 1;
    }
    entered = 0;
    return least;
  }

  double CostOf(const CraftCommand& command) {
    const auto result = static_cast<size_t>(command.result);
    const char before = std::exchange(entered_[result], 1);
    double sum = 1;
    for (const ItemCount& part : command.ingredients) sum += Cost(part.item);
    entered_[result] = before;
    return sum;
  }

  // Of a kind such as "planks": the items that may stand for it, "oak planks", as they are shown.
  std::vector<int> Members(int kind) const {
    std::vector<int> members;
    const std::string ending = fmt::format(" {}", Name(kind));
    for (const CraftCommand& command : view_.commands) {
      if (command.result == kind) return {};
      if (Name(command.result).ends_with(ending) &&
          std::ranges::find(members, command.result) == members.end()) {
        members.push_back(command.result);
      }
    }
    return members;
  }

  // The item that serves as the ingredient: itself, or of its kind the one that there is enough of,
  // else the one that is begun, else the cheapest.
  int Filler(int ingredient, int needed) {
    if (Held(ingredient) >= needed) return ingredient;
    int best = ingredient;
    double least = kNever;
    entered_[static_cast<size_t>(ingredient)] = 1;
    for (const int member : Members(ingredient)) {
      double cost = Cost(member);
      if (Held(member) >= needed) {
        cost = -2;
      } else if (Held(member) > 0) {
        cost = -1;
      }
      if (cost < least) {
        least = cost;
        best = member;
      }
    }
    entered_[static_cast<size_t>(ingredient)] = 0;
    return best;
  }

  const TextCraftView& view_;
  std::vector<char> entered_;  // items that Cost is being asked for
};

bool Teacher::Reach(ItemCount wanted, TextCraftAction& action, std::string& thought) {
  char& entered = entered_[static_cast<size_t>(wanted.item)];
  if (entered != 0) return false;
  entered = 1;
  const bool reached = std::ranges::any_of(view_.commands, [&](const CraftCommand& command) {
    return command.result == wanted.item && ReachBy(command, wanted.count, action, thought);
  });
  entered = 0;
  return reached;
}

// True if `action` is a step on the way to `wanted` items by `command`; `thought` then tells that
// way down to the action. Otherwise both are as before. The thought goes down the recipes until one
// can be made or an item can be got: for a ladder with no sticks and no planks at hand and the
// action "get 2 log" it says that the ladder needs sticks, sticks need planks, planks need 2 logs.
bool Teacher::ReachBy(const CraftCommand& command, int wanted, TextCraftAction& action,
                      std::string& thought) {
  const size_t before = thought.size();
  thought += fmt::format("{}{}: ", before == 0 ? "" : " ", Recital(view_, command));
  const int times = (wanted + command.count - 1) / command.count;
  if (Makes(command, action)) {
    action.count = command.count;
    std::string_view separator = "have ";
    for (size_t i = 0; i < action.uses.size(); ++i) {
      const int item = action.uses[i].item;
      const int part = command.ingredients[i].item;
      thought += fmt::format("{}{}{}", separator,
                             item == part ? "" : fmt::format("{} as ", Name(part)), Name(item));
      separator = ", ";
    }
    thought += '.';
    return true;
  }
  std::string_view separator;
  for (const ItemCount& part : command.ingredients) {
    const int needed = part.count * times;
    std::vector<int> fillers = Members(part.item);
    fillers.insert(fillers.begin(), part.item);
    const auto enough =
        std::ranges::find_if(fillers, [&](int item) { return Held(item) >= needed; });
    const auto as = [&](int item) {
      return item == part.item ? "" : fmt::format("{} as ", Name(part.item));
    };
    if (enough != fillers.end()) {
      thought += fmt::format("{}{}{}", separator.empty() ? "have " : separator, as(*enough),
                             Name(*enough));
      separator = ", ";
      continue;
    }
    for (const int item : fillers) {
      const size_t length = thought.size();
      const int missing = needed - Held(item);
      thought += fmt::format("{}need {} {}{}.", separator, missing, as(item), Name(item));
      const bool gets = action.verb == TextCraftVerb::kGet && action.item == item &&
                        action.count == missing && BestCommand(item) == nullptr;
      if (gets || Reach({item, missing}, action, thought)) return true;
      thought.resize(length);
    }
  }
  thought.resize(before);
  return false;
}

// True if the action is the command, with items in place of kinds.
bool Teacher::Makes(const CraftCommand& command, const TextCraftAction& action) const {
  if (action.verb != TextCraftVerb::kCraft || command.result != action.item) return false;
  return std::ranges::equal(command.ingredients, action.uses,
                            [&](const ItemCount& part, const ItemCount& used) {
                              const std::string ending = fmt::format(" {}", Name(part.item));
                              return part.count == used.count && Held(used.item) >= used.count &&
                                     (part.item == used.item || Name(used.item).ends_with(ending));
                            });
}

// Removes the recitals of shown commands from a thought.
class Recitals {
 public:
  Recitals(const TextCraftView& view, std::string_view thought) : rest(thought) {
    for (const CraftCommand& command : view.commands) {
      const std::string recital = Recital(view, command);
      for (size_t at = 0; (at = rest.find(recital, at)) != std::string::npos;) {
        const size_t end = at + recital.size();
        // "log using …" in "oak log using …", and "makes 1" in "makes 12", are no recitals.
        const bool begins = at == 0 || (at > 1 && rest[at - 1] == ' ' && rest[at - 2] == '.');
        const bool ends = end == rest.size() || rest[end] < '0' || rest[end] > '9';
        if (!begins || !ends) {
          at = end;
          continue;
        }
        // The same length, so that the order of recitals can be compared.
        rest.replace(at, recital.size(), recital.size(), '#');
        if (last == nullptr || at > last_at) {
          last = &command;
          last_at = at;
        }
      }
    }
  }

  std::string rest;
  const CraftCommand* last = nullptr;
  size_t last_at = 0;
};

// True if the thought has the form of a recital: "using 2 … makes 4".
bool Recites(std::string_view thought) {
  const auto before_a_number = [&](std::string_view word, size_t from) {
    size_t at = thought.find(word, from);
    while (at != std::string_view::npos) {
      const size_t number = at + word.size();
      if (number < thought.size() && thought[number] >= '0' && thought[number] <= '9') break;
      at = thought.find(word, number);
    }
    return at;
  };
  const size_t uses = before_a_number(" using ", 0);
  return uses != std::string_view::npos &&
         before_a_number(" makes ", uses) != std::string_view::npos;
}

}  // namespace

std::string Recital(const TextCraftView& view, const CraftCommand& command) {
  const auto name = [&](int item) { return view.names[static_cast<size_t>(item)]; };
  std::string text = fmt::format("{} using ", name(command.result));
  std::string_view separator;
  for (const ItemCount& part : command.ingredients) {
    text += fmt::format("{}{} {}", separator, part.count, name(part.item));
    separator = ", ";
  }
  return text + fmt::format(" makes {}", command.count);
}

const CraftCommand* LastRecited(const TextCraftView& view, std::string_view thought) {
  return Recitals(view, thought).last;
}

std::optional<TaughtStep> TeachTextCraft(const TextCraftView& view) { return Teacher(view).Next(); }

std::optional<TaughtStep> ExplainTextCraft(const TextCraftView& view, std::string_view action) {
  const std::optional<TextCraftAction> read = ReadTextCraftAction(view, action);
  if (!read) return std::nullopt;
  std::optional<TaughtStep> taught = TeachTextCraft(view);
  if (taught && ActionText(view, taught->action) == action) return taught;
  return Teacher(view).Explain(*read);
}

bool FitsTextCraft(const TextCraftView& view, std::string_view thought, std::string_view action) {
  if (thought.starts_with(kTextCraftFailed)) thought.remove_prefix(kTextCraftFailed.size());
  thought = Trim(thought);
  if (!Recites(thought)) return true;
  const Recitals recitals(view, thought);
  const bool invents = recitals.rest.find(" using ") != std::string::npos ||
                       recitals.rest.find(" makes ") != std::string::npos;
  if (invents || recitals.last == nullptr) return false;
  const std::optional<TextCraftAction> read = ReadTextCraftAction(view, action);
  if (!read) return false;
  const std::string_view end = std::string_view(recitals.rest).substr(recitals.last_at);
  const size_t need = end.find("need ");
  if (read->verb == TextCraftVerb::kCraft) {
    return need == std::string_view::npos && recitals.last->result == read->item &&
           recitals.last->count == read->count;
  }
  if (need == std::string_view::npos) return false;
  const std::string_view item = view.names[static_cast<size_t>(read->item)];
  return end.substr(need).starts_with(fmt::format("need {} ", read->count)) &&
         end.ends_with(fmt::format(" {}.", item));
}

}  // namespace agentr
