#include "clients/textcraft_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace agentr {
namespace {

constexpr int kNever = 1'000'000;  // steps, of what cannot be had

// True for "oak planks" and "planks".
bool IsOfKind(std::string_view item, std::string_view kind) {
  return item.size() > kind.size() && item.ends_with(kind) &&
         item[item.size() - kind.size() - 1] == ' ';
}

bool Uses(const CraftCommand& command, int item) {
  return std::any_of(command.ingredients.begin(), command.ingredients.end(),
                     [item](const Ingredient& ingredient) { return ingredient.item == item; });
}

class Planner {
 public:
  explicit Planner(const TextCraftView& view)
      : view_(view), have_(view.held), known_(view.names.size()) {}

  std::vector<TextCraftAction> Plan() {
    // The goal counts only when it is crafted, even if one is held.
    if (Learn(view_.goal).command == nullptr) return {};
    have_[Index(view_.goal)] = 0;
    Supply({view_.goal, 1});
    return std::move(steps_);
  }

 private:
  // What is known of an item, whatever amount of it is needed.
  struct Item {
    bool visited = false;
    int steps = kNever;                     // to one of it, from what is held
    const CraftCommand* command = nullptr;  // the way to make it
    std::vector<int> members;               // of a kind: the items that may stand for it
  };

  static size_t Index(int item) { return static_cast<size_t>(item); }

  const Item& Learn(int item);
  void LearnCommands(int item);
  void LearnMembers(int item);
  int StepsOf(const CraftCommand& command);
  int FillerOf(Ingredient ingredient);
  int Supply(Ingredient ingredient);
  void Produce(int item, int missing);

  const TextCraftView& view_;
  std::vector<int> have_;  // what is held and not spoken for at this point of the plan
  std::vector<Item> known_;
  std::vector<TextCraftAction> steps_;
};

const Planner::Item& Planner::Learn(int item) {
  Item& known = known_[Index(item)];
  // An item that is being learned counts as kNever, so that no way to an item leads through itself.
  if (known.visited) return known;
  known.visited = true;
  LearnCommands(item);
  if (known.command == nullptr) LearnMembers(item);
  if (known.command == nullptr && known.members.empty() && !view_.not_found[Index(item)]) {
    known.steps = 1;  // one "get"
  }
  if (view_.held[Index(item)] > 0) known.steps = 0;  // keeps to a way once begun
  return known;
}

// Chooses the command with the fewest steps; of equals the one that yields more.
void Planner::LearnCommands(int item) {
  int least = kNever;
  const CraftCommand* best = nullptr;
  for (const CraftCommand& command : view_.commands) {
    if (command.result != item) continue;
    const int steps = StepsOf(command);
    if (steps < least || (best != nullptr && steps == least && command.count > best->count)) {
      least = steps;
      best = &command;
    }
  }
  known_[Index(item)].command = best;
  known_[Index(item)].steps = least;
}

int Planner::StepsOf(const CraftCommand& command) {
  int steps = 1;
  for (const Ingredient& ingredient : command.ingredients) steps += Learn(ingredient.item).steps;
  return std::min(steps, kNever);
}

void Planner::LearnMembers(int item) {
  for (const CraftCommand& command : view_.commands) {
    if (!IsOfKind(view_.names[Index(command.result)], view_.names[Index(item)])) continue;
    // "polished basalt" is made of "basalt", which is an item then, and no kind.
    if (Uses(command, item)) continue;
    const int steps = Learn(command.result).steps;
    if (steps == kNever) continue;
    known_[Index(item)].members.push_back(command.result);
    known_[Index(item)].steps = std::min(known_[Index(item)].steps, steps);
  }
}

// The item that serves as the ingredient: itself, or the member of its kind that there is enough
// of, else the one with the fewest steps.
int Planner::FillerOf(Ingredient ingredient) {
  const Item& known = Learn(ingredient.item);
  if (have_[Index(ingredient.item)] >= ingredient.count || known.members.empty()) {
    return ingredient.item;
  }
  const auto cost = [&](int member) {
    return have_[Index(member)] >= ingredient.count ? -1 : Learn(member).steps;
  };
  return *std::min_element(known.members.begin(), known.members.end(),
                           [&](int a, int b) { return cost(a) < cost(b); });
}

// Plans for the ingredient and sets it aside; the item that it is.
int Planner::Supply(Ingredient ingredient) {
  const int item = FillerOf(ingredient);
  const int missing = ingredient.count - have_[Index(item)];
  if (missing > 0) Produce(item, missing);
  have_[Index(item)] -= ingredient.count;
  return item;
}

void Planner::Produce(int item, int missing) {
  const CraftCommand* command = Learn(item).command;
  if (command == nullptr) {
    have_[Index(item)] += missing;
    const auto same = std::find_if(steps_.begin(), steps_.end(), [item](const TextCraftAction& s) {
      return s.verb == TextCraftVerb::kGet && s.item == item;
    });
    if (same != steps_.end()) {
      same->count += missing;
    } else {
      steps_.push_back({TextCraftVerb::kGet, item, missing, {}});
    }
    return;
  }
  const int times = (missing + command->count - 1) / command->count;
  TextCraftAction craft{TextCraftVerb::kCraft, item, command->count, {}};
  for (const Ingredient& ingredient : command->ingredients) {
    const int filler = Supply({ingredient.item, ingredient.count * times});
    craft.uses.push_back({filler, ingredient.count});
  }
  have_[Index(item)] += times * command->count;
  steps_.insert(steps_.end(), static_cast<size_t>(times), craft);
}

}  // namespace

std::string ActionText(const TextCraftView& view, const TextCraftAction& action) {
  const auto name = [&](int item) { return view.names[static_cast<size_t>(item)]; };
  if (action.verb == TextCraftVerb::kInventory) return "inventory";
  if (action.verb == TextCraftVerb::kGet) {
    return fmt::format("get {} {}", action.count, name(action.item));
  }
  std::string text = fmt::format("craft {} {}", action.count, name(action.item));
  for (size_t i = 0; i < action.uses.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{} {}", i == 0 ? " using " : ", ",
                   action.uses[i].count, name(action.uses[i].item));
  }
  return text;
}

std::vector<TextCraftAction> PlanTextCraft(const TextCraftView& view) {
  return Planner(view).Plan();
}

}  // namespace agentr
