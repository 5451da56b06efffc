#include "tests/tasks/small_textcraft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace agentr {
namespace {

constexpr std::string_view kCommands = R"(craft 1 chest minecart using 1 chest, 1 minecart
craft 4 stick using 2 planks
craft 4 oak planks using 1 oak logs
craft 1 chest using 8 planks
craft 1 iron ingot using 9 iron nugget
craft 4 birch planks using 1 birch logs
craft 4 torch using 1 coal, 1 stick
craft 9 iron ingot using 1 iron block
craft 1 wooden pickaxe using 3 planks, 2 stick
craft 1 minecart using 5 iron ingot
craft 16 rail using 6 iron ingot, 1 stick
craft 4 polished basalt using 4 basalt
craft 1 white bed using 3 white wool, 3 planks
craft 1 white wool using 4 string
craft 1 painting using 8 stick, 1 wool
craft 1 black wool using 1 white wool, 1 ink sac
)";

struct Amount {
  int count;
  std::string name;
};

struct Recipe {
  Amount result;
  std::vector<Amount> uses;
};

// White wool looks like a member of "wool" and is none, as in the real book.
bool Fits(const std::string& ingredient, const std::string& item) {
  if (ingredient == "planks") return item == "oak planks" || item == "birch planks";
  if (ingredient == "wool") return item == "black wool";
  return ingredient == item;
}

Amount ReadAmount(const std::string& text) {
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return {0, text};
  return {std::atoi(text.c_str() + digit),
          text.substr(std::min(text.size(), text.find(' ', digit) + 1))};
}

std::vector<Amount> ReadList(std::string text) {
  std::vector<Amount> amounts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    amounts.push_back(ReadAmount(text.substr(0, comma)));
    text.erase(0, comma + 1);
  }
  return amounts;
}

// "craft 4 stick using 2 planks", of a command or an action.
Recipe ReadRecipe(const std::string& line) {
  const size_t split = line.rfind(" using ");
  return {ReadAmount(line.substr(6, split - 6)), ReadList(line.substr(split + 7))};
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = [] {
    std::vector<Recipe> all;
    std::istringstream lines{std::string(kCommands)};
    for (std::string line; std::getline(lines, line);) all.push_back(ReadRecipe(line));
    return all;
  }();
  return recipes;
}

bool Matches(const Recipe& recipe, std::vector<Amount> given) {
  for (const Amount& use : recipe.uses) {
    const auto at = std::find_if(given.begin(), given.end(),
                                 [&](const Amount& g) { return Fits(use.name, g.name); });
    if (at == given.end() || at->count != use.count) return false;
    given.erase(at);
  }
  return given.empty();
}

}  // namespace

std::vector<std::string> SmallTextCraft::Goals() {
  std::set<std::string> goals;
  for (const Recipe& recipe : Recipes()) goals.insert(recipe.result.name);
  return {goals.begin(), goals.end()};
}

std::string SmallTextCraft::FirstObservation() const {
  return fmt::format("Crafting commands:\n{}\nGoal: craft {}.", kCommands, goal_);
}

StepResult SmallTextCraft::Step(const std::string& action) {
  StepResult result;
  if (action.starts_with("craft ")) {
    result.observation = Craft(action, result.reward);
    result.done = result.reward > 0;
  } else if (action.starts_with("get ")) {
    result.observation = Get(action);
  } else if (action.starts_with("inventory")) {
    result.observation = Inventory();
  } else {
    result.observation = "Could not execute " + action;
  }
  return result;
}

std::string SmallTextCraft::Craft(const std::string& action, double& reward) {
  if (action.find(" using ") == std::string::npos) return "Could not execute " + action;
  const auto [result, parts] = ReadRecipe(action);
  for (const Amount& part : parts) {
    if (held_[part.name] < part.count) {
      return "Could not find enough items to craft minecraft:" + result.name;
    }
  }
  for (const Recipe& recipe : Recipes()) {
    if (recipe.result.name != result.name || !Matches(recipe, parts)) continue;
    for (const Amount& part : parts) held_[part.name] -= part.count;
    held_[result.name] += recipe.result.count;
    reward = result.name == goal_ ? 1 : 0;
    return fmt::format("Crafted {} minecraft:{}", recipe.result.count, result.name);
  }
  return "Could not find a valid recipe for " + result.name;
}

std::string SmallTextCraft::Get(const std::string& action) {
  const Amount amount = ReadAmount(action.substr(4));
  bool base = false;
  for (const Recipe& recipe : Recipes()) {
    if (recipe.result.name == amount.name) return "Could not find " + amount.name;
    for (const Amount& use : recipe.uses) base = base || use.name == amount.name;
  }
  if (!base || amount.name == "planks" || amount.name == "wool")
    return "Could not find " + amount.name;
  held_[amount.name] += amount.count;
  return fmt::format("Got {} {}", amount.count, amount.name);
}

std::string SmallTextCraft::Inventory() const {
  std::string text = "Inventory: ";
  for (const auto& [name, count] : held_) {
    if (count > 0) text += fmt::format("[{}] ({}) ", name, count);
  }
  return text == "Inventory: " ? text + "You are not carrying anything." : text;
}

}  // namespace agentr
