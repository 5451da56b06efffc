#include "training/demos/textcraft_teacher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

 private:
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

std::optional<TaughtStep> TeachTextCraft(const TextCraftView& view) { return Teacher(view).Next(); }

}  // namespace agentr
