#include "demos/webshop_demos.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/random.h"
#include "common/text.h"
#include "games/webshop/shop_generator.h"
#include "games/webshop/webshop.h"
#include "tasks/webshop/webshop_conversation.h"
#include "tasks/webshop/webshop_family.h"
#include "tasks/webshop/webshop_mistakes.h"
#include "tasks/webshop/webshop_page.h"
#include "tasks/webshop/webshop_planner.h"
#include "tasks/webshop/webshop_words.h"

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

// One episode, turn by turn.
class Buyer {
 public:
  Buyer(const WebShopDemoOptions& options, const WebShop& shop, size_t goal, RandomStream random)
      : o_(options),
        shop_(shop),
        random_(random),
        state_(shop.Start(goal)),
        instruction_(shop.Instruction(state_)),
        messages_(WebShopFamily().Instruction()) {
    messages_.push_back({"user", shop.Observation(state_)});
    trained_.resize(messages_.size());
  }

  // Nothing where the planner does not earn the least reward in time.
  std::optional<DemoRow> Play(const std::string& task) {
    for (int turn = 0; turn < o_.max_turns + 3 * slips_ && !state_.done; ++turn) {
      const std::optional<WebShopView> view = ReadWebShop(messages_);
      if (!view) return std::nullopt;
      TakeTurn(*view);
    }
    if (!state_.done || state_.reward < o_.least_reward) return std::nullopt;
    messages_.pop_back();
    trained_.pop_back();
    return MakeDemoRow(task, messages_, trained_);
  }

 private:
  void TakeTurn(const WebShopView& view);
  std::string Next(const WebShopView& view) const;
  std::string Thought(const WebShopPage& page, std::string_view action) const;
  std::optional<std::string> Slip(const WebShopView& view, std::string_view meant);
  std::string Check(const WebShopPage& page, std::string_view meant, std::string_view done) const;

  const WebShopDemoOptions& o_;
  const WebShop& shop_;
  RandomStream random_;
  WebShopState state_;
  const std::string instruction_;
  std::vector<Message> messages_;
  std::vector<char> trained_;
  int slips_ = 0;
  bool slipped_ = false;     // in the last turn, as far as can be seen
  std::string check_;        // what the next thought says of the last turn
  std::string words_;        // of the last search that was meant, as the shop keeps them
  std::string opened_name_;  // of the last product that was meant to be opened
};

// The plan; after a slip first back to where it left off, since the planner goes on from any page.
std::string Buyer::Next(const WebShopView& view) const {
  const std::string search = fmt::format("search[{}]", WishOf(instruction_));
  const bool results = state_.place == ShopPlace::kResults;
  if (results && state_.results->words != words_) return search;
  const bool other_page = results && state_.page > 1;
  const bool other_product =
      state_.place == ShopPlace::kItem && WebShopNameOf(view.page.product.title) != opened_name_;
  if (other_page || other_product) return "click[< Prev]";
  const std::string action = AsSpelledOnPage(messages_.back().content, PlanWebShop(view));
  return action.starts_with("search[") ? search : action;
}

std::string Buyer::Thought(const WebShopPage& page, std::string_view action) const {
  const bool leaves = action == "click[< Prev]" || action == "click[Back to Search]";
  return check_ + (leaves && !slipped_ ? "This is not what is asked for."
                                       : WebShopReason(page, action, o_.checks));
}

// What the shop gets instead, if something can be found.
std::optional<std::string> Buyer::Slip(const WebShopView& view, std::string_view meant) {
  constexpr int kDraws = 40;
  for (int i = 0; i < kDraws; ++i) {
    std::string action =
        AsSpelledOnPage(messages_.back().content, RandomWebShopAction(view, random_));
    if (action == meant) continue;
    WebShopState next = state_;
    shop_.Step(next, action);
    if (!next.done && shop_.Url(next, "") != shop_.Url(state_, "")) return action;
  }
  return std::nullopt;
}

// True if what was done on `page` can be told from what was meant: two products of one name cannot.
bool CanBeSeen(const WebShopPage& page, std::string_view meant, std::string_view done) {
  const std::string name = WebShopOpenedName(page, meant);
  return done != meant && (name.empty() || name != WebShopOpenedName(page, done));
}

// "I clicked navy. ", or "I clicked red instead of navy. ".
std::string Buyer::Check(const WebShopPage& page, std::string_view meant,
                         std::string_view done) const {
  const std::string deed = WebShopDeed(page, done);
  return slipped_ ? fmt::format("{} instead of {}. ", deed, WebShopObject(page, meant))
                  : deed + ". ";
}

void Buyer::TakeTurn(const WebShopView& view) {
  const std::string meant = Next(view);
  const std::string thought = Thought(view.page, meant);
  std::optional<std::string> slip;
  if (o_.slips > 0 && random_.Chance(o_.slips)) slip = Slip(view, meant);
  const std::string& action = slip ? *slip : meant;
  const std::string opened = WebShopOpenedName(view.page, meant);
  if (!opened.empty()) opened_name_ = opened;
  slipped_ = CanBeSeen(view.page, meant, action);
  check_ = o_.checks ? Check(view.page, meant, action) : "";
  slips_ += slip ? 1 : 0;
  messages_.push_back({"assistant", fmt::format("Thought: {}\nAction: {}", thought, action)});
  trained_.push_back(slip ? 0 : 1);
  shop_.Step(state_, action);
  if (!slip && action.starts_with("search[") && state_.results) words_ = state_.results->words;
  messages_.push_back({"user", OneLine(shop_.Observation(state_))});
  trained_.push_back(0);
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
    Buyer buyer(options, game, goal, random.Split(static_cast<uint64_t>(i)));
    std::optional<DemoRow> row = buyer.Play(task);
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace agentr
