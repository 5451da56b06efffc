#include "tasks/webshop/webshop_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tasks/webshop/webshop_action.h"
#include "tasks/webshop/webshop_goal.h"

namespace agentr {
namespace {

constexpr std::string_view kSeparator = " [SEP] ";
constexpr std::string_view kPriceLabel = "Price: ";

using Pieces = std::span<const std::string_view>;

template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

template <typename Number>
std::optional<Number> NumberAfter(std::string_view marker, std::string_view text) {
  const size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return ReadNumber<Number>(text.substr(at + marker.size()));
}

bool ReadResults(Pieces rest, WebShopPage& page) {
  if (rest.empty() || !rest[0].starts_with("Page ")) return false;
  const auto number = NumberAfter<int>("Page ", rest[0]);
  const auto total = NumberAfter<int>("(Total results: ", rest[0]);
  if (!number || !total) return false;
  page.number = *number;
  page.total = *total;
  const auto next = std::ranges::find(rest.subspan(0, std::min<size_t>(rest.size(), 3)), "Next >");
  size_t at = static_cast<size_t>(next - rest.begin()) + 1;
  for (; at + 2 < rest.size(); at += 3) {
    page.products.push_back({rest[at], rest[at + 1], rest[at + 2]});
  }
  return true;
}

// Title, price, rating and the buttons up to "Buy Now" end an item page.
bool ReadItem(Pieces rest, WebShopPage& page) {
  if (rest.empty() || rest.back() != "Buy Now") return false;
  rest = rest.first(rest.size() - 1);
  if (!rest.empty() && rest.back() == "Attributes") rest = rest.first(rest.size() - 1);
  constexpr size_t kEnd = 6;
  if (rest.size() < kEnd) return false;
  const Pieces end = rest.last(kEnd);
  if (!end[1].starts_with(kPriceLabel) || !end[2].starts_with("Rating: ") ||
      end[3] != "Description" || end[4] != "Features" || end[5] != "Reviews") {
    return false;
  }
  page.product.title = end[0];
  page.product.price_tag = end[1].substr(kPriceLabel.size());
  const WebShopGoal goal = ReadWebShopGoal(page.instruction);
  std::vector<std::string_view> wanted;
  for (const WebShopChoice& choice : goal.choices) wanted.push_back(choice.option);
  page.options = SplitOptions(rest.first(rest.size() - kEnd), wanted);
  return true;
}

WebShopPageKind ReadBelowInstruction(Pieces rest, WebShopPage& page) {
  if (rest.size() == 1 && rest[0] == "Search") return WebShopPageKind::kStart;
  if (rest.empty() || rest[0] != "Back to Search") return WebShopPageKind::kOther;
  rest = rest.subspan(1);
  if (ReadResults(rest, page)) return WebShopPageKind::kResults;
  if (rest.empty() || rest[0] != "< Prev") return WebShopPageKind::kOther;
  if (ReadItem(rest.subspan(1), page)) return WebShopPageKind::kItem;
  return WebShopPageKind::kSubpage;
}

bool IsCommonName(std::string_view piece) {
  static constexpr std::array<std::string_view, 33> kNames = {
      "band size",
      "capacity",
      "color",
      "configuration",
      "cup size",
      "edition",
      "fit",
      "flavor",
      "format",
      "heel height",
      "item display height",
      "item package quantity",
      "length",
      "lens width",
      "material",
      "model",
      "number of items",
      "number of pieces",
      "package quantity",
      "pattern",
      "pattern size",
      "quantity",
      "ring size",
      "scent",
      "shade",
      "shape",
      "size",
      "special size",
      "strength",
      "style",
      "unit count",
      "voltage",
      "width",
  };
  if (std::ranges::find(kNames, piece) != kNames.end()) return true;
  const bool digits = piece.find_first_of("0123456789") != std::string_view::npos;
  return !digits &&
         (piece.ends_with(" name") || piece.ends_with(" type") || piece.ends_with(" capacity"));
}

}  // namespace

bool WebShopPage::Shows(std::string_view value) const {
  return std::ranges::any_of(pieces,
                             [&](std::string_view piece) { return WebShopKey(piece) == value; });
}

std::vector<std::string_view> SplitPieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(kSeparator);
    pieces.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + kSeparator.size());
  }
  return pieces;
}

bool IsIdle(std::string_view text, std::string_view action) {
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  if (!read) return true;
  if (read->IsSearch()) return false;
  if (!read->IsClick()) return true;
  if (std::ranges::any_of(read->argument,
                          [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return false;
  }
  // Compares without blanks at the ends: an option's value may have them, but the page does not
  // show them.
  const std::string key = WebShopKey(read->argument);
  if (key == "search") return true;
  return std::ranges::none_of(SplitPieces(text),
                              [&](std::string_view piece) { return WebShopKey(piece) == key; });
}

std::string AsSpelledOnPage(std::string_view text, std::string_view action) {
  const std::optional<WebShopAction> read = ReadWebShopAction(action);
  if (!read || !read->IsClick()) return std::string(action);
  const std::string key = WebShopKey(read->argument);
  for (const std::string_view piece : SplitPieces(text)) {
    if (WebShopKey(piece) == key) return fmt::format("click[{}]", piece);
  }
  return std::string(action);
}

WebShopPage ReadWebShopPage(std::string_view text) {
  WebShopPage page;
  page.pieces = SplitPieces(text);
  Pieces pieces = page.pieces;
  if (pieces[0] == "Thank you for shopping with us!") {
    page.kind = WebShopPageKind::kDone;
    const auto score = std::ranges::find(pieces, "Your score (min 0.0, max 1.0)");
    if (pieces.end() - score > 1) page.reward = ReadNumber<double>(*(score + 1)).value_or(0);
    return page;
  }
  const bool start = pieces[0] == "WebShop";
  if (start) pieces = pieces.subspan(1);
  if (pieces.size() < 2 || pieces[0] != "Instruction:") return page;
  page.instruction = pieces[1];
  page.kind = ReadBelowInstruction(pieces.subspan(2), page);
  if (start != (page.kind == WebShopPageKind::kStart)) page.kind = WebShopPageKind::kOther;
  return page;
}

std::vector<WebShopOption> SplitOptions(Pieces pieces, Pieces wanted) {
  std::vector<WebShopOption> options;
  const auto is_name = [&](std::string_view piece) {
    if (options.empty()) return true;
    if (options.back().values.empty()) return false;
    if (std::ranges::find(options, piece, &WebShopOption::name) != options.end()) return false;
    return IsCommonName(piece) || std::ranges::find(wanted, piece) != wanted.end();
  };
  for (const std::string_view piece : pieces) {
    if (is_name(piece)) {
      options.push_back({piece, {}});
    } else {
      options.back().values.push_back(piece);
    }
  }
  return options;
}

std::optional<double> LowestPrice(std::string_view price_tag) {
  return NumberAfter<double>("$", price_tag);
}

}  // namespace agentr
