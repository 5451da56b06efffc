// The form of WebShop's actions: search[words] and click[value].
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentr {

struct WebShopAction {
  std::string_view name;      // "search" | "click", or any other text
  std::string_view argument;  // as written; the shop lower-cases it

  bool IsSearch() const { return name == "search"; }
  bool IsClick() const { return name == "click"; }
};

// Reads `text` as the shop does: the pattern (.+)\[(.+)\] of Python's re, matched at the start.
// There is no newline, and the name is as long as possible ("a[b] click[c]" has the name "a[b]
// click"). Text after the last "]" is ignored. nullopt if the pattern does not match.
std::optional<WebShopAction> ReadWebShopAction(std::string_view text);

// The text with ASCII letters in lower case and without blanks at the ends.
std::string WebShopKey(std::string_view text);

// The action click[…] on a button, link or option.
std::string WebShopClick(std::string_view value);

}  // namespace agentr
