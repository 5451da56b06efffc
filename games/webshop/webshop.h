// The game WebShop: pages, actions and purchases of AgentGym's WebShop server. A session has one
// goal and is on one page; games/webshop/page.h defines the possible actions.
//
// Actions: search[words] on every page; click[x] where x is one of the page's clickables (never the
// search button). Search words that begin with <c>, <q> or <a> list all products of a category,
// query or attribute; <r> lists 50 random ones. Any other action does not change the page. Buy Now
// ends the session. After that no action changes it, unlike in the original, where a search starts
// again.
//
// The original's random choices come from `seed`: prices within a range, the products of <r>, and
// the goal of a session that does not name one.
//
// Source: WebShop (Yao et al. 2022) as AgentGym serves it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "games/search/search_index.h"
#include "games/webshop/catalogue.h"
#include "games/webshop/goals.h"
#include "games/webshop/page.h"
#include "games/webshop/reward.h"

namespace agentr {

struct ShopOptions {
  uint64_t seed = 0;
  bool human_goals = false;      // goals from instructions that people wrote
  bool show_attributes = false;  // an Attributes page for each product
};

enum class ShopPlace : uint8_t { kStart, kResults, kItem, kSubPage, kDone };

// The results of a search; shared by the states after it.
struct ShopResults {
  std::string words;
  std::vector<uint32_t> products;
};

// A value chosen for an option of the present product.
struct ShopChoice {
  std::string_view option;
  std::string_view value;
};

// {"color": "navy blue"}, in the form of Python's json, and {'color': 'navy blue'}, as Python
// prints it.
std::string ChoicesJson(const std::vector<ShopChoice>& choices);
std::string ChoicesRepr(const std::vector<ShopChoice>& choices);

struct WebShopState {
  uint32_t goal = 0;
  ShopPlace place = ShopPlace::kStart;
  uint32_t page = 1;          // page of the results, from 1
  uint32_t product = 0;       // on kItem, kSubPage, kDone
  std::string_view sub_page;  // "Description", …
  std::shared_ptr<const ShopResults> results;
  std::vector<ShopChoice> chosen;  // in the order of their first click
  double reward = 0;               // reward of the last action
  bool done = false;               // true if the last action ended the session
};

// What search words that begin with <c>, <q>, <a> or <r> are: the name of a list, or words like
// others.
enum class SearchMarks : uint8_t { kLists, kWords };

// Immutable, so one object serves all sessions and threads.
class WebShop {
 public:
  WebShop(Catalogue catalogue, const ShopOptions& options);

  // --- Tasks ---
  size_t task_count() const { return goals_.size(); }
  // `task_id` < task_count().
  WebShopState Start(size_t task_id) const;
  // A task drawn by weight; equal for equal `key`.
  size_t DrawTask(uint64_t key) const;

  // --- A session ---
  void Step(WebShopState& state, std::string_view action) const;
  // What Step does with a valid action: all texts are in lower case, `name` is one of the page's
  // clickables, `value` one of the options of `product` (which Step takes for a button if it can).
  void Search(WebShopState& state, std::string words, SearchMarks marks) const;
  void Click(WebShopState& state, const std::string& name) const;
  void Choose(WebShopState& state, uint32_t product, std::string_view value) const;
  ShopPage PageOf(const WebShopState& state) const;
  std::string Observation(const WebShopState& state) const { return PageText(PageOf(state)); }
  std::string Instruction(const WebShopState& state) const { return goals_.At(state.goal).text; }
  // The original's address of the page, for session `name`.
  std::string Url(const WebShopState& state, std::string_view name) const;
  // The reward of the purchase, with its parts. The session must be kDone.
  ShopReward Reward(const WebShopState& state) const;

  const Catalogue& catalogue() const { return catalogue_; }

  // The hash of everything that affects replies: the products with their prices, and the options.
  const std::string& data_hash() const { return data_hash_; }

 private:
  uint32_t ProductOnPage(const WebShopState& state, std::string_view name) const;
  // The products of the list that `words` name; nullopt if they name none.
  std::optional<std::vector<uint32_t>> FindList(const std::string& words) const;
  const Product& At(uint32_t product) const { return catalogue_.products()[product]; }

  void AddResults(const WebShopState& state, ShopPage& page) const;
  void AddItem(const WebShopState& state, ShopPage& page) const;
  void AddSubPage(const WebShopState& state, ShopPage& page) const;
  void AddDone(const WebShopState& state, ShopPage& page) const;

  const Catalogue catalogue_;
  const ShopOptions options_;
  const ShopGoals goals_;
  const SearchIndex index_;
  std::string data_hash_;
};

}  // namespace agentr
