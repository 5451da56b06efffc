#include "tests/tasks/small_webshop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_goal.h"

namespace agentr {
namespace {

constexpr size_t kPerPage = 3;

struct Option {
  std::string name;
  std::vector<std::string> values;
};

struct Product {
  std::string id;
  std::string title;
  double price;
  std::string price_tag;
  std::vector<Option> options;
  std::string description;
};

const std::vector<Product>& Products() {
  static const std::vector<Product> products = {
      {"B000000001",
       "Acme Running Shoes for Women, Breathable Mesh",
       45,
       "$45.0",
       {{"color", {"black", "white", "navy blue"}}, {"size", {"6", "7", "8.5"}}},
       "Light and airy."},
      {"B000000002",
       "Acme Running Shoes for Men, Breathable",
       39.5,
       "$39.5",
       {{"color", {"black", "red"}}, {"size", {"9", "10"}}},
       "Firm."},
      {"B000000003",
       "Gold Label Breathable Running Shoes Women Mesh",
       240,
       "$240.0",
       {{"color", {"navy blue"}}, {"size", {"7"}}},
       "Dear."},
      {"B000000004", "Coffee Mug, Large Ceramic Cup", 12, "$12.0", {}, ""},
      {"B000000005",
       "Herbal Shampoo for Dry Hair",
       14,
       "$10.0 to $20.0",
       {{"scent", {"lavender", "mint"}}, {"size", {"8 ounce", "16 ounce"}}},
       "Smells."},
      {"B000000006",
       "Waterproof Hiking Trail Backpack",
       50,
       "$50.0",
       {{"color", {"red"}}},
       "Red only."},
      {"B000000007",
       "Hiking Backpack",
       48,
       "$48.0",
       {{"color", {"red", "green"}}},
       "In two colours."},
  };
  return products;
}

}  // namespace

const std::vector<SmallWebShop::Goal>& SmallWebShop::Goals() {
  static const std::vector<Goal> goals = {
      {"Find me breathable running shoes for women with color: navy blue, and size: 7, and price "
       "lower than 60.00 dollars",
       "B000000001",
       {{"color", "navy blue"}, {"size", "7"}},
       60},
      {"i want a large ceramic coffee mug, and price lower than 20.00 dollars",
       "B000000004",
       {},
       20},
      {"Find me herbal shampoo for dry hair with scent: mint, and size: 16 ounce, and price lower "
       "than 30.00 dollars",
       "B000000005",
       {{"scent", "mint"}, {"size", "16 ounce"}},
       30},
      // The product whose title fits best does not come in the colour.
      {"Find me a waterproof hiking trail backpack with color: green, and price lower than 60.00 "
       "dollars",
       "B000000007",
       {{"color", "green"}},
       60},
  };
  return goals;
}

SmallWebShop::SmallWebShop(size_t goal) : goal_(Goals()[goal % Goals().size()]) {}

std::vector<size_t> SmallWebShop::OnPage() const {
  std::vector<size_t> shown;
  for (size_t i = (page_ - 1) * kPerPage; i < std::min(page_ * kPerPage, found_.size()); ++i) {
    shown.push_back(found_[i]);
  }
  return shown;
}

void SmallWebShop::AddResults(std::vector<std::string>& pieces) const {
  pieces.push_back(fmt::format("Page {} (Total results: {})", page_, found_.size()));
  if (page_ > 1) pieces.emplace_back("< Prev");
  pieces.emplace_back("Next >");
  for (const size_t i : OnPage()) {
    pieces.insert(pieces.end(), {Products()[i].id, Products()[i].title, Products()[i].price_tag});
  }
}

void SmallWebShop::AddItem(std::vector<std::string>& pieces) const {
  const Product& product = Products()[item_];
  pieces.emplace_back("< Prev");
  if (place_ == Place::kSubpage) {
    if (subpage_ == "description" && !product.description.empty()) {
      pieces.push_back(product.description);
    }
    return;
  }
  for (const Option& option : product.options) {
    pieces.push_back(option.name);
    pieces.insert(pieces.end(), option.values.begin(), option.values.end());
  }
  pieces.insert(pieces.end(), {product.title, "Price: " + product.price_tag, "Rating: N.A.",
                               "Description", "Features", "Reviews", "Buy Now"});
}

std::string SmallWebShop::Page() const {
  if (place_ == Place::kDone) {
    return fmt::format(
        "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] Your score (min 0.0, "
        "max 1.0) [SEP] {} [SEP] Reward Details [SEP] None",
        Reward());
  }
  std::vector<std::string> pieces = {"Instruction:", goal_.instruction};
  if (place_ == Place::kStart) {
    pieces.insert(pieces.begin(), "WebShop");
    pieces.emplace_back("Search");
    return fmt::format("{}", fmt::join(pieces, " [SEP] "));
  }
  pieces.emplace_back("Back to Search");
  if (place_ == Place::kResults) {
    AddResults(pieces);
  } else {
    AddItem(pieces);
  }
  return fmt::format("{}", fmt::join(pieces, " [SEP] "));
}

StepResult SmallWebShop::Step(std::string_view action) {
  if (place_ == Place::kDone) return {Page(), 0, false};
  if (const auto read = ReadWebShopAction(action)) {
    if (read->IsSearch()) Search(WebShopKey(read->argument));
    if (read->IsClick()) Click(WebShopKey(read->argument));
  }
  const bool done = place_ == Place::kDone;
  return {Page(), done ? Reward() : 0, done};
}

void SmallWebShop::Forget() { chosen_.clear(); }

// The more words a title has of the search, the earlier it comes.
void SmallWebShop::Search(std::string_view words) {
  Forget();
  place_ = Place::kResults;
  page_ = 1;
  found_.clear();
  const std::vector<std::string> wanted = WebShopWords(words);
  std::vector<std::pair<long, size_t>> hits;
  for (size_t i = 0; i < Products().size(); ++i) {
    const std::vector<std::string> title = WebShopWords(Products()[i].title);
    const long common = std::ranges::count_if(
        wanted, [&](const auto& word) { return std::ranges::find(title, word) != title.end(); });
    if (common > 0) hits.emplace_back(-common, i);
  }
  std::ranges::sort(hits);
  for (const auto& hit : hits) found_.push_back(hit.second);
}

void SmallWebShop::Click(const std::string& value) {
  if (place_ == Place::kStart) return;
  if (value == "back to search") {
    Forget();
    place_ = Place::kStart;
  } else if (place_ == Place::kSubpage) {
    if (value == "< prev") place_ = Place::kItem;
  } else if (place_ == Place::kItem) {
    ClickOnItem(value);
  } else if (value == "next >") {
    ++page_;
  } else if (value == "< prev") {
    if (page_ > 1) --page_;
  } else {
    for (const size_t i : OnPage()) {
      if (WebShopKey(Products()[i].id) != value) continue;
      item_ = i;
      place_ = Place::kItem;
    }
  }
}

void SmallWebShop::ClickOnItem(const std::string& value) {
  const Product& product = Products()[item_];
  if (value == "< prev") {
    Forget();
    place_ = Place::kResults;
  } else if (value == "description" || value == "features" || value == "reviews") {
    subpage_ = value;
    place_ = Place::kSubpage;
  } else if (value == "buy now") {
    bought_ = product.id;
    place_ = Place::kDone;
  }
  for (const Option& option : product.options) {
    if (std::ranges::find(option.values, value) != option.values.end()) {
      chosen_[option.name] = value;
    }
  }
}

// The share of what is asked for: the product itself, its options, the price.
double SmallWebShop::Reward() const {
  double met = bought_ == goal_.id ? 1 : 0;
  met += Products()[item_].price <= goal_.price_limit ? 1 : 0;
  for (const auto& [name, value] : goal_.options) {
    met += chosen_.contains(name) && chosen_.at(name) == value ? 1 : 0;
  }
  return met / (2 + static_cast<double>(goal_.options.size()));
}

}  // namespace agentr
