#include "games/webshop/archer_shop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/python_text.h"
#include "games/webshop/archer_page.h"
#include "games/webshop/archer_texts.h"
#include "games/webshop/page.h"
#include "games/webshop/shop_generator.h"

namespace agentr {
namespace {

// The x of "name[x]", whatever the last character is; nullopt for another action.
std::optional<std::string_view> ArgumentOf(std::string_view name, std::string_view action) {
  if (!action.starts_with(name)) return std::nullopt;
  action.remove_prefix(name.size());
  if (!action.starts_with('[')) return std::nullopt;
  action.remove_prefix(1);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (!action.empty() && continues(action.back())) action.remove_suffix(1);
  if (!action.empty()) action.remove_suffix(1);
  return action;
}

// What the address of a page contains besides names without quotation marks.
std::string QuotedInAddress(const WebShopState& state) {
  return (state.results ? state.results->words : "") + "/" + ChoicesRepr(state.chosen);
}

bool CanBeClicked(const PagePiece& piece) {
  switch (piece.kind) {
    case PieceKind::kButton:
      return piece.text != "Search" && piece.text != "Next >";
    case PieceKind::kProductLink:
    case PieceKind::kOptionValue:
      return true;
    default:
      return false;
  }
}

constexpr std::string_view kHiddenButton = "Attributes";

// What is possible only on certain pages. Any other name is looked for on pages of results and
// products only.
constexpr std::array<std::string_view, 8> kButtons = {"Buy Now", "Back to Search", "Next >",
                                                      "< Prev",  "Description",    "Features",
                                                      "Reviews", kHiddenButton};

}  // namespace

ArcherShop ArcherShop::BuiltIn() {
  return ArcherShop(std::make_shared<const WebShop>(
      GenerateShop(kDefaultShopSize, kDefaultShopSeed), ShopOptions{.seed = kDefaultShopSeed}));
}

std::optional<ArcherState> ArcherShop::Start(int64_t task_id) const {
  if (task_id < 0 || task_id >= task_count()) return std::nullopt;
  ArcherState state;
  state.shop = shop_->Start(static_cast<size_t>(task_id));
  state.observation =
      fmt::format("{}{}{}", archer::kObservation, PageOf(state.shop), InstructionPart(state.shop));
  return state;
}

void ArcherShop::Step(ArcherState& state, std::string_view action) const {
  state.shop.reward = 0;
  if (state.done()) return;
  const std::string end = InstructionPart(state.shop);
  state.observation.resize(state.observation.size() - end.size());
  if (state.steps == archer::kMostActions) {
    state.shop.done = true;
    return;
  }
  ++state.steps;
  if (action.ends_with('\n')) action.remove_suffix(1);
  state.observation += fmt::format("{}{}{}{}{}", archer::kAction, action, archer::kObservation,
                                   Answer(state, action), end);
  state.score += state.shop.reward;
}

std::vector<PagePiece> ArcherShop::ClickablesOf(const ArcherState& state) const {
  std::vector<PagePiece> pieces = shop_->PageOf(state.shop).pieces;
  std::erase_if(pieces, [](const PagePiece& piece) { return !CanBeClicked(piece); });
  if (state.shop.place != ShopPlace::kItem) return pieces;
  if (std::ranges::find(pieces, kHiddenButton, &PagePiece::text) == pieces.end()) {
    pieces.push_back({PieceKind::kButton, std::string(kHiddenButton)});
  }
  if (state.options_of && *state.options_of != state.shop.product) {
    for (const ProductOption& option : shop_->catalogue().products()[*state.options_of].options) {
      for (const std::string_view value : option.values) {
        pieces.push_back({PieceKind::kOptionValue, std::string(value)});
      }
    }
  }
  return pieces;
}

std::vector<std::string> ArcherShop::Clickables(const ArcherState& state) const {
  std::vector<std::string> names;
  for (PagePiece& piece : ClickablesOf(state)) names.push_back(std::move(piece.text));
  return names;
}

std::string ArcherShop::Answer(ArcherState& state, std::string_view action) const {
  if (action.starts_with("think[")) return std::string(archer::kThought);
  if (const auto words = ArgumentOf("search", action)) {
    if (state.shop.place != ShopPlace::kStart) return std::string(archer::kInvalid);
    shop_->Search(state.shop, PythonLower(*words), SearchMarks::kWords);
    return words->empty() ? "" : PageOf(state.shop);
  }
  const auto name = ArgumentOf("click", action);
  return name ? Click(state, *name) : std::string(archer::kInvalid);
}

std::string ArcherShop::Click(ArcherState& state, std::string_view name) const {
  const std::vector<PagePiece> pieces = ClickablesOf(state);
  const auto piece = std::ranges::find(pieces, name, &PagePiece::text);
  WebShopState& shop = state.shop;
  if (piece == pieces.end()) {
    const bool same_page = (shop.place == ShopPlace::kStart || shop.place == ShopPlace::kSubPage) &&
                           std::ranges::find(kButtons, name) == kButtons.end();
    return same_page ? PageOf(shop) : std::string(archer::kInvalid);
  }
  if (piece->kind == PieceKind::kOptionValue) {
    shop_->Choose(shop, state.options_of.value_or(shop.product), PythonLower(name));
    return fmt::format("{}{}.", archer::kClickedBefore, name);
  }
  shop_->Click(shop, PythonLower(name));
  if (shop.place == ShopPlace::kStart) state.options_of.reset();
  if (shop.place == ShopPlace::kItem &&
      !shop_->catalogue().products()[shop.product].options.empty())
    state.options_of = shop.product;
  return PageOf(shop);
}

std::string ArcherShop::PageOf(const WebShopState& state) const {
  return ArcherText(shop_->PageOf(state), QuotedInAddress(state));
}

std::string ArcherShop::InstructionPart(const WebShopState& state) const {
  return fmt::format("{}{}", archer::kInstruction, PythonUnescape(shop_->Instruction(state) + " "));
}

}  // namespace agentr
