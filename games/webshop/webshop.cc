#include "games/webshop/webshop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <utility>

#include "common/python_text.h"
#include "common/random.h"
#include "games/webshop/shop_hash.h"

namespace agentr {
namespace {

constexpr size_t kMostResults = 50;

// The parts of "name[argument]", like the expression (.+)\[(.+)\] matched at the start of the text.
struct ShopAction {
  std::string_view name;
  std::string_view argument;
};

std::optional<ShopAction> ParseShopAction(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t close = line.rfind(']');
  if (close == std::string_view::npos || close < 3) return std::nullopt;
  const size_t open = line.rfind('[', close - 2);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  return ShopAction{line.substr(0, open), line.substr(open + 1, close - open - 1)};
}

Catalogue WithPrices(Catalogue catalogue, uint64_t seed) {
  catalogue.DrawPrices(seed);
  return catalogue;
}

// The searchable text of a product.
std::string SearchText(const Product& product) {
  std::string text = fmt::format("{} {} {} ", product.title, product.description,
                                 product.bullets.empty() ? "" : product.bullets.front());
  for (size_t i = 0; i < product.options.size(); ++i) {
    const ProductOption& option = product.options[i];
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", and ", option.name,
                        fmt::join(option.values, ", "));
  }
  return PythonLower(text);
}

SearchIndex IndexOf(const Catalogue& catalogue) {
  const auto products = catalogue.products();
  std::vector<std::string_view> asins;
  for (const Product& product : products) asins.push_back(product.asin);
  return SearchIndex(asins, [&](size_t i) { return SearchText(products[i]); });
}

std::string_view AfterFirstWord(std::string_view words) {
  const size_t space = words.find(' ');
  return space == std::string_view::npos ? std::string_view() : words.substr(space + 1);
}

}  // namespace

WebShop::WebShop(Catalogue catalogue, const ShopOptions& options)
    : catalogue_(WithPrices(std::move(catalogue), options.seed)),
      options_(options),
      goals_(catalogue_, options.human_goals),
      index_(IndexOf(catalogue_)),
      data_hash_(
          ShopHash(catalogue_, options.human_goals ? GoalKind::kHuman : GoalKind::kSynthetic,
                   fmt::format("seed {} attributes {};", options.seed, options.show_attributes))) {}

std::string ChoicesJson(const std::vector<ShopChoice>& choices) {
  std::string json = "{";
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) json += ", ";
    AppendPythonJson(choices[i].option, json);
    json += ": ";
    AppendPythonJson(choices[i].value, json);
  }
  return json + "}";
}

std::string ChoicesRepr(const std::vector<ShopChoice>& choices) {
  std::string text = "{";
  for (size_t i = 0; i < choices.size(); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", PythonRepr(choices[i].option),
                        PythonRepr(choices[i].value));
  }
  return text + "}";
}

WebShopState WebShop::Start(size_t task_id) const {
  WebShopState state;
  state.goal = static_cast<uint32_t>(task_id);
  return state;
}

size_t WebShop::DrawTask(uint64_t key) const {
  return goals_.Draw(RandomStream(options_.seed).Split("task").Split(key).Uniform());
}

void WebShop::Step(WebShopState& state, std::string_view action) const {
  state.reward = 0;
  state.done = false;
  const std::optional<ShopAction> parsed = ParseShopAction(action);
  if (!parsed || state.place == ShopPlace::kDone) return;
  std::string argument = PythonLower(parsed->argument);
  if (parsed->name == "search") return Search(state, std::move(argument), SearchMarks::kLists);
  if (parsed->name != "click" || argument == "search") return;
  const std::vector<std::string> clickables = Clickables(PageOf(state));
  if (std::ranges::find(clickables, argument) != clickables.end()) Click(state, argument);
}

void WebShop::Search(WebShopState& state, std::string words, SearchMarks marks) const {
  std::optional<std::vector<uint32_t>> found;
  if (marks == SearchMarks::kLists) found = FindList(words);
  if (!found) found = index_.Search(words, kMostResults);
  state.results =
      std::make_shared<const ShopResults>(ShopResults{std::move(words), *std::move(found)});
  state.place = ShopPlace::kResults;
  state.page = 1;
  state.chosen.clear();
}

std::optional<std::vector<uint32_t>> WebShop::FindList(const std::string& words) const {
  const std::string_view first = std::string_view(words).substr(0, words.find(' '));
  const auto all_with = [&](auto has) {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < catalogue_.products().size(); ++i) {
      if (has(At(i))) found.push_back(i);
    }
    return found;
  };
  const std::string_view rest = PythonStrip(AfterFirstWord(words));
  if (first == "<c>") {  // one word
    const std::string_view category =
        PythonStrip(AfterFirstWord(words).substr(0, AfterFirstWord(words).find(' ')));
    return all_with([&](const Product& product) { return product.category == category; });
  }
  if (first == "<q>") {
    return all_with([&](const Product& product) { return product.query == rest; });
  }
  if (first == "<a>") {
    return all_with([&](const Product& product) {
      return std::ranges::find(product.attributes, rest) != product.attributes.end();
    });
  }
  if (first == "<r>") {
    std::vector<uint32_t> all = all_with([](const Product&) { return true; });
    return RandomStream(options_.seed)
        .Split("results")
        .Split(words)
        .Sample(std::move(all), kMostResults);
  }
  return std::nullopt;
}

void WebShop::Click(WebShopState& state, const std::string& name) const {
  const bool on_results = state.place == ShopPlace::kResults;
  const auto to_results = [&] {
    state.place = ShopPlace::kResults;
    state.chosen.clear();
  };
  // The original decides only by name: an option value "description" opens the description.
  static constexpr std::array<std::string_view, 4> kSubPages = {"Description", "Features",
                                                                "Reviews", "Attributes"};
  const auto sub_page = std::ranges::find_if(
      kSubPages, [&](std::string_view page) { return PythonLower(page) == name; });
  if (name == "buy now") {
    state.place = ShopPlace::kDone;
    state.reward = Reward(state).reward;
    state.done = true;
  } else if (name == "back to search") {
    state = Start(state.goal);
  } else if (name == "next >" && on_results) {
    ++state.page;
  } else if (name == "< prev" && on_results) {
    --state.page;
  } else if (name == "< prev" && state.place == ShopPlace::kSubPage) {
    state.place = ShopPlace::kItem;
  } else if (name == "< prev" && state.place == ShopPlace::kItem) {
    to_results();
  } else if (sub_page != kSubPages.end()) {
    state.place = ShopPlace::kSubPage;
    state.sub_page = *sub_page;
  } else if (on_results) {
    state.place = ShopPlace::kItem;
    state.product = ProductOnPage(state, name);
  } else {
    Choose(state, state.product, name);
  }
}

uint32_t WebShop::ProductOnPage(const WebShopState& state, std::string_view name) const {
  return *std::ranges::find_if(state.results->products, [&](uint32_t product) {
    return PythonLower(At(product).asin) == name;
  });
}

void WebShop::Choose(WebShopState& state, uint32_t product, std::string_view value) const {
  // If several options have the value, the last one is chosen.
  for (const ProductOption& option : std::views::reverse(At(product).options)) {
    const auto at = std::ranges::find_if(
        option.values, [&](std::string_view text) { return PythonLower(text) == value; });
    if (at == option.values.end()) continue;
    const auto chosen = std::ranges::find(state.chosen, option.name, &ShopChoice::option);
    if (chosen != state.chosen.end()) {
      chosen->value = *at;
    } else {
      state.chosen.push_back({option.name, *at});
    }
    return;
  }
}

ShopReward WebShop::Reward(const WebShopState& state) const {
  std::vector<std::string_view> values;
  for (const ShopChoice& choice : state.chosen) values.push_back(choice.value);
  return RewardOf(At(state.product), values, goals_.At(state.goal));
}

std::string WebShop::Url(const WebShopState& state, std::string_view name) const {
  std::string words = state.results ? state.results->words : "";
  std::ranges::replace(words, ' ', '+');
  const std::string base = "http://127.0.0.1:3000";
  switch (state.place) {
    case ShopPlace::kStart:
      return fmt::format("{}/{}", base, name);
    case ShopPlace::kResults:
      return fmt::format("{}/search_results/{}/{}/{}", base, name, words, state.page);
    case ShopPlace::kItem:
      return fmt::format("{}/item_page/{}/{}/{}/{}/{}", base, name, At(state.product).asin, words,
                         state.page, ChoicesJson(state.chosen));
    case ShopPlace::kSubPage:
      return fmt::format("{}/item_sub_page/{}/{}/{}/{}/{}/{}", base, name, At(state.product).asin,
                         words, state.page, state.sub_page, ChoicesRepr(state.chosen));
    case ShopPlace::kDone:
      return fmt::format("{}/done/{}/{}/{}", base, name, At(state.product).asin,
                         ChoicesRepr(state.chosen));
  }
  return base;
}

}  // namespace agentr
