// The goal that a WebShop instruction tells. Pure functions; views point into the text read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct WebShopChoice {
  std::string_view option;  // "color"
  std::string_view value;   // "navy blue"
};

struct WebShopGoal {
  std::string_view text;               // what the product is like, without choices and price
  std::vector<WebShopChoice> choices;  // of options
  std::optional<double> price_limit;   // dollars; the price must be lower, the shop takes equal too
};

// The goal of "TEXT with k: v, and k: v, and price lower than P dollars", where choices and price
// may be missing. TEXT and values may hold " with " and ", and " themselves: the choices begin at
// the first " with " behind which an option's name of up to four words and ": " stand.
WebShopGoal ReadWebShopGoal(std::string_view instruction);

// The words of `text` in lower case, in order, each once: runs of letters and digits and what joins
// them ("4.5", "x-large", "women's"); bytes beyond ASCII count as letters.
std::vector<std::string> WebShopWords(std::string_view text);

// WebShopWords without those that tell nothing about a product ("i", "want", "with", …).
std::vector<std::string> WebShopKeyWords(std::string_view text);

}  // namespace agentr
