#include "demos/webshop_demos.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/random.h"
#include "common/text.h"
#include "games/webshop/shop_generator.h"
#include "games/webshop/webshop.h"
#include "tasks/webshop/webshop_family.h"
#include "tasks/webshop/webshop_page.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {
namespace {

// The instruction up to its options or its price, as it stands there. A small model can copy such a
// text, but cannot choose words from it; the search ignores the words that say nothing.
std::string WishOf(const std::string& instruction) {
  size_t end = instruction.find(", and price lower than ");
  const size_t option = instruction.find(": ");
  if (option < end) end = instruction.rfind(" with ", option);
  return instruction.substr(0, end);
}

// "color: navy" where the instruction says so of the value.
std::string Wanted(const std::string& instruction, const std::string& value) {
  const size_t at = instruction.find(fmt::format(": {}", value));
  if (at == std::string::npos) return value;
  const size_t begin = instruction.rfind(' ', at);
  return instruction.substr(begin + 1, at + 2 + value.size() - begin - 1);
}

std::string ThoughtFor(const std::string& action, const std::string& instruction,
                       const WebShopState& state) {
  if (action.starts_with("search[")) return "I look for what is asked for.";
  const std::string value = action.substr(action.find('[') + 1, action.size() - 7);
  const std::string lower = AsciiLower(value);
  if (lower == "buy now") return "All that is asked for is chosen.";
  if (lower == "< prev" || lower == "back to search") return "This is not what is asked for.";
  if (state.place == ShopPlace::kResults) {
    return lower == "next >" ? "I look at more." : "This one may be it.";
  }
  return fmt::format("{}, as asked.", Wanted(instruction, value));
}

// Nothing where the planner does not earn the least reward in time.
std::optional<DemoRow> Episode(const WebShopDemoOptions& options, const WebShop& shop, size_t goal,
                               const std::string& task) {
  const WebShopFamily family;
  std::vector<Message> messages = family.Instruction();
  WebShopState state = shop.Start(goal);
  messages.push_back({"user", shop.Observation(state)});
  std::vector<char> trained(messages.size());
  const std::string instruction = shop.Instruction(state);
  for (int turn = 0; turn < options.max_turns && !state.done; ++turn) {
    const std::unique_ptr<PolicyState> planner = ReadWebShopPolicy(messages);
    if (planner == nullptr) return std::nullopt;
    std::string action = AsSpelledOnPage(messages.back().content, planner->Plan());
    if (action.starts_with("search[")) action = fmt::format("search[{}]", WishOf(instruction));
    messages.push_back({"assistant", fmt::format("Thought: {}\nAction: {}",
                                                 ThoughtFor(action, instruction, state), action)});
    trained.push_back(1);
    shop.Step(state, action);
    messages.push_back({"user", OneLine(shop.Observation(state))});
    trained.push_back(0);
  }
  if (!state.done || state.reward < options.least_reward) return std::nullopt;
  messages.pop_back();
  trained.pop_back();
  return MakeDemoRow(task, messages, trained);
}

}  // namespace

std::vector<DemoRow> WebShopDemos(const WebShopDemoOptions& options, uint64_t seed, int shop) {
  RandomStream random =
      RandomStream(seed).Split("webshop demos").Split(static_cast<uint64_t>(shop));
  uint64_t shop_seed = random.Next();
  while (shop_seed == kDefaultShopSeed) shop_seed = random.Next();
  const WebShop game(GenerateShop(static_cast<size_t>(options.products), shop_seed),
                     {.seed = shop_seed});
  std::vector<DemoRow> rows;
  for (int i = 0; i < options.goals; ++i) {
    const size_t goal = random.Below(game.task_count());
    const std::string task = fmt::format("webshop-{}-{}", shop, goal);
    std::optional<DemoRow> row = Episode(options, game, goal, task);
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace agentr
