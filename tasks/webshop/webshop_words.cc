#include "tasks/webshop/webshop_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/text.h"
#include "tasks/webshop/webshop_action.h"

namespace agentr {
namespace {

// What is between the brackets.
std::string ArgumentOf(std::string_view action) {
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  return read ? std::string(read->argument) : "";
}

// "color: navy" where the instruction says so of the value.
std::string Wanted(std::string_view instruction, const std::string& value) {
  const size_t at = instruction.find(fmt::format(": {}", value));
  if (at == std::string::npos) return value;
  const size_t begin = instruction.rfind(' ', at);
  return std::string(instruction.substr(begin + 1, at + 2 + value.size() - begin - 1));
}

}  // namespace

std::string WebShopNameOf(std::string_view title) {
  return std::string(
      title.substr(0, std::min({title.find(", "), title.find(" with "), title.find(" for ")})));
}

std::string WebShopOpenedName(const WebShopPage& page, std::string_view action) {
  const std::string id = WebShopKey(ArgumentOf(action));
  for (const WebShopProduct& product : page.products) {
    if (WebShopKey(product.id) == id) return WebShopNameOf(product.title);
  }
  return "";
}

std::string WebShopDeed(const WebShopPage& page, std::string_view action) {
  const std::string name = WebShopOpenedName(page, action);
  if (!name.empty()) return fmt::format("This is {}", name);
  return fmt::format("I {} {}", action.starts_with("search[") ? "searched for" : "clicked",
                     ArgumentOf(action));
}

std::string WebShopObject(const WebShopPage& page, std::string_view action) {
  if (action.starts_with("search[")) return "what is asked for";
  const std::string name = WebShopOpenedName(page, action);
  return name.empty() ? ArgumentOf(action) : name;
}

std::string WebShopReason(const WebShopPage& page, std::string_view action, bool named) {
  if (action.starts_with("search[")) return "I look for what is asked for.";
  const std::string value = ArgumentOf(action);
  const std::string lower = AsciiLower(value);
  if (lower == "buy now") return "All that is asked for is chosen.";
  if (lower == "< prev" || lower == "back to search") return "I go back.";
  if (lower == "next >") return "I look at more.";
  if (page.kind == WebShopPageKind::kResults) {
    return fmt::format("{} may be it.", named ? WebShopOpenedName(page, action) : "This one");
  }
  return fmt::format("{}, as asked.", Wanted(page.instruction, value));
}

}  // namespace agentr
