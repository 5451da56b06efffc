// The form of WebShop's actions: search[words] and click[value].
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentr {

struct WebShopAction {
  std::string_view name;      // "search" | "click", or whatever stands there
  std::string_view argument;  // as written; the shop lower-cases it

  bool IsSearch() const { return name == "search"; }
  bool IsClick() const { return name == "click"; }
};

// `text` as the shop reads it: the pattern (.+)\[(.+)\] matched at the start, as Python's re does
// it: no newline, and the longest name that leaves an argument ("a[b] click[c]" has the name "a[b]
// click"). What follows the last "]" does not count. Nothing where the pattern does not match.
std::optional<WebShopAction> ReadWebShopAction(std::string_view text);

// In lower case, of ASCII only, and without blanks at the ends.
std::string WebShopKey(std::string_view text);

// click[…] on a button or a link, by its key.
std::string WebShopClick(std::string_view value);

}  // namespace agentr
