#include "tasks/webshop/webshop_action.h"

#include <fmt/format.h>

#include "common/text.h"

namespace agentr {

std::optional<WebShopAction> ReadWebShopAction(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  const size_t close = text.rfind(']');
  if (close == std::string_view::npos || close < 3) return std::nullopt;
  // At least one character stands between the brackets, and one before them.
  const size_t open = text.rfind('[', close - 2);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  return WebShopAction{text.substr(0, open), text.substr(open + 1, close - open - 1)};
}

std::string WebShopKey(std::string_view text) { return AsciiLower(Trim(text)); }

std::string WebShopClick(std::string_view value) {
  return fmt::format("click[{}]", WebShopKey(value));
}

}  // namespace agentr
