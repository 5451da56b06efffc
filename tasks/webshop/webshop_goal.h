// Reads the goal of a WebShop instruction. Pure functions; string views point into the text that
// was read.
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
  std::string_view text;               // the description of the product, without choices and price
  std::vector<WebShopChoice> choices;  // required option values
  std::optional<double> price_limit;   // dollars; the instruction asks for a lower price, but the
                                       // shop accepts an equal one too
};

// The goal in "TEXT with k: v, and k: v, and price lower than P dollars", where choices and price
// may be missing. TEXT and values may contain " with " and ", and " themselves: the choices begin
// at the first " with " that is followed by an option name of up to four words and ": ".
WebShopGoal ReadWebShopGoal(std::string_view instruction);

// The words of `text` in lower case, in order, each once: runs of letters, digits and joining
// characters ("4.5", "x-large", "women's"); non-ASCII bytes count as letters.
std::vector<std::string> WebShopWords(std::string_view text);

// WebShopWords without words that say nothing about a product ("i", "want", "with", …).
std::vector<std::string> WebShopKeyWords(std::string_view text);

}  // namespace agentr
