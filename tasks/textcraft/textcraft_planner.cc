#include "tasks/textcraft/textcraft_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace agentr {
namespace {

// An estimate of the steps to get an amount of an item: picking up its materials, and crafts, whose
// number grows with the amount but is at least one per kind of craft.
struct Steps {
  double gets = std::numeric_limits<double>::infinity();  // infinity: the item cannot be obtained
  double least_crafts = 0;
  double crafts_each = 0;

  bool possible() const { return gets < std::numeric_limits<double>::infinity(); }
  double To(int count) const { return gets + std::max(least_crafts, count * crafts_each); }

  bool IsBetter(const Steps& other, int count) const {
    return std::pair(To(count), crafts_each) < std::pair(other.To(count), other.crafts_each);
  }
};

// True for "oak planks" and "planks".
bool IsOfKind(std::string_view item, std::string_view kind) {
  return item.size() > kind.size() && item.ends_with(kind) &&
         item[item.size() - kind.size() - 1] == ' ';
}

class Planner {
 public:
  explicit Planner(const TextCraftView& view)
      : view_(view), have_(view.held), known_(view.names.size()) {}

  std::vector<TextCraftAction> Plan() {
    Learn(view_.goal);
    if (known_[Index(view_.goal)].ways.empty()) return {};
    have_[Index(view_.goal)] = 0;  // the goal must be crafted, even if one is held
    Supply({view_.goal, 1}, view_.goal);
    return std::move(steps_);
  }

 private:
  struct Way {
    const CraftCommand* command;
    Steps steps;
  };
  struct Item {
    bool visited = false;
    bool learned = false;      // false while its own ways are still being searched
    bool craftable = false;    // a craftable item cannot be picked up
    std::vector<Way> ways;     // to craft it
    std::vector<int> members;  // of a kind: the items that may stand for it
  };

  static size_t Index(int item) { return static_cast<size_t>(item); }

  void Learn(int item);
  void LearnMembers(int item);
  bool IsMadeOf(int made, int item, std::vector<char>& seen) const;
  Steps StepsTo(int item, int count) const;
  Steps StepsOf(const CraftCommand& command);
  const Way& BestWay(int item, int count) const;
  bool IsMisfit(int result, int member) const {
    return std::find(view_.misfits.begin(), view_.misfits.end(), std::pair(result, member)) !=
           view_.misfits.end();
  }
  int FillerOf(ItemCount ingredient, int result) const;
  int Supply(ItemCount ingredient, int result);
  void Get(int item, int missing);
  void Produce(int item, int missing);

  const TextCraftView& view_;
  std::vector<int> have_;  // the held items that the plan has not used so far
  std::vector<Item> known_;
  std::vector<TextCraftAction> steps_;
};

// Fills known_ for the item and all its ingredients. Ways through items that are not learned yet
// are skipped, so that no item needs itself.
void Planner::Learn(int item) {
  Item& known = known_[Index(item)];
  if (known.visited) return;
  known.visited = true;
  for (const CraftCommand& command : view_.commands) {
    if (command.result != item) continue;
    known.craftable = true;
    const Steps steps = StepsOf(command);
    if (steps.possible()) known.ways.push_back({&command, steps});
  }
  if (!known.craftable) LearnMembers(item);
  known.learned = true;
}

void Planner::LearnMembers(int item) {
  for (const CraftCommand& command : view_.commands) {
    if (!IsOfKind(view_.names[Index(command.result)], view_.names[Index(item)])) continue;
    // "polished basalt" is made of "basalt", so "basalt" is an item, not a kind.
    std::vector<char> seen(known_.size());
    if (IsMadeOf(command.result, item, seen)) continue;
    Learn(command.result);
    if (StepsTo(command.result, 1).possible()) {
      known_[Index(item)].members.push_back(command.result);
    }
  }
}

// True if commands lead from `item` to `made`, directly or through other items; `seen` marks
// visited items.
bool Planner::IsMadeOf(int made, int item, std::vector<char>& seen) const {
  if (made == item) return true;
  if (std::exchange(seen[Index(made)], 1) != 0) return false;
  return std::any_of(
      view_.commands.begin(), view_.commands.end(), [&](const CraftCommand& command) {
        return command.result == made &&
               std::any_of(command.ingredients.begin(), command.ingredients.end(),
                           [&](const ItemCount& i) { return IsMadeOf(i.item, item, seen); });
      });
}

Steps Planner::StepsOf(const CraftCommand& command) {
  Steps sum{.gets = 0, .least_crafts = 1, .crafts_each = 1};
  for (const ItemCount& ingredient : command.ingredients) {
    Learn(ingredient.item);
    const Steps steps = StepsTo(ingredient.item, ingredient.count);
    sum.gets += steps.gets;
    sum.least_crafts += steps.least_crafts;
    sum.crafts_each += ingredient.count * steps.crafts_each;
  }
  sum.crafts_each /= command.count;
  return sum;
}

Steps Planner::StepsTo(int item, int count) const {
  const Item& known = known_[Index(item)];
  Steps best;
  if (!known.learned) return best;
  if (!known.ways.empty()) {
    best = BestWay(item, count).steps;
  } else if (!known.craftable && known.members.empty() && view_.not_found[Index(item)] == 0) {
    best.gets = 1;
  }
  for (const int member : known.members) {
    const Steps steps = StepsTo(member, count);
    if (steps.IsBetter(best, count)) best = steps;
  }
  // Prefers a way that was already begun.
  if (view_.held[Index(item)] > 0) best.gets = best.least_crafts = 0;
  return best;
}

const Planner::Way& Planner::BestWay(int item, int count) const {
  const std::vector<Way>& ways = known_[Index(item)].ways;
  return *std::min_element(ways.begin(), ways.end(), [count](const Way& a, const Way& b) {
    return a.steps.IsBetter(b.steps, count);
  });
}

// The item to use as the ingredient of `result`: the ingredient itself, or a member of its kind
// that is held in sufficient number, else the member with the fewest steps.
int Planner::FillerOf(ItemCount ingredient, int result) const {
  const Item& known = known_[Index(ingredient.item)];
  if (have_[Index(ingredient.item)] >= ingredient.count || known.members.empty()) {
    return ingredient.item;
  }
  const auto cost = [&](int member) {
    if (IsMisfit(result, member)) return std::numeric_limits<double>::max();
    if (have_[Index(member)] >= ingredient.count) return -1.0;
    return StepsTo(member, ingredient.count).To(ingredient.count);
  };
  return *std::min_element(known.members.begin(), known.members.end(),
                           [&](int a, int b) { return cost(a) < cost(b); });
}

// Plans the ingredient of `result` and reserves it; returns the item used.
int Planner::Supply(ItemCount ingredient, int result) {
  const int item = FillerOf(ingredient, result);
  const int missing = ingredient.count - have_[Index(item)];
  if (missing > 0) Produce(item, missing);
  have_[Index(item)] -= ingredient.count;
  return item;
}

// Adds to the plan's single "get" of the item.
void Planner::Get(int item, int missing) {
  have_[Index(item)] += missing;
  const auto same = std::find_if(steps_.begin(), steps_.end(), [item](const TextCraftAction& s) {
    return s.verb == TextCraftVerb::kGet && s.item == item;
  });
  if (same != steps_.end()) {
    same->count += missing;
  } else {
    steps_.push_back({TextCraftVerb::kGet, item, missing, {}});
  }
}

void Planner::Produce(int item, int missing) {
  if (known_[Index(item)].ways.empty()) return Get(item, missing);
  const CraftCommand& command = *BestWay(item, missing).command;
  const int times = (missing + command.count - 1) / command.count;
  TextCraftAction craft{TextCraftVerb::kCraft, item, command.count, {}};
  for (const ItemCount& ingredient : command.ingredients) {
    const int filler = Supply({ingredient.item, ingredient.count * times}, item);
    craft.uses.push_back({filler, ingredient.count});
  }
  have_[Index(item)] += times * command.count;
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
