#include "servers/webshop/archer_shop.h"

#include <fmt/format.h>

#include <algorithm>

#include "servers/webshop/archer_page.h"
#include "servers/webshop/page.h"
#include "servers/webshop/python_text.h"
#include "servers/webshop/shop_generator.h"
#include "tasks/webshop/archer_texts.h"

namespace agentr {
namespace {

// The x of "name[x]"; nullopt for another action or an empty x.
std::optional<std::string_view> ArgumentOf(std::string_view name, std::string_view action) {
  if (!action.starts_with(name) || !action.ends_with(']')) return std::nullopt;
  action = action.substr(name.size(), action.size() - name.size() - 1);
  if (action.size() < 2 || action.front() != '[') return std::nullopt;
  return action.substr(1);
}

// What the address of a page contains besides names without quotation marks.
std::string QuotedInAddress(const WebShopState& state) {
  std::string address = state.results ? state.results->words + "/{" : "/{";
  for (const ShopChoice& choice : state.chosen) {
    address += fmt::format("{}{}: {}", address.ends_with('{') ? "" : ", ",
                           PythonRepr(choice.option), PythonRepr(choice.value));
  }
  return address + "}";
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

// The pieces of the page that can be clicked.
std::vector<PagePiece> ClickablesOf(const WebShop& shop, const WebShopState& state) {
  std::vector<PagePiece> pieces = shop.PageOf(state).pieces;
  std::erase_if(pieces, [](const PagePiece& piece) { return !CanBeClicked(piece); });
  const std::string hidden = "Attributes";
  if (state.place == ShopPlace::kItem &&
      std::ranges::find(pieces, hidden, &PagePiece::text) == pieces.end()) {
    pieces.push_back({PieceKind::kButton, hidden});
  }
  return pieces;
}

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
                                   Answer(state.shop, action), end);
  state.score += state.shop.reward;
}

std::vector<std::string> ArcherShop::Clickables(const ArcherState& state) const {
  std::vector<std::string> names;
  for (PagePiece& piece : ClickablesOf(*shop_, state.shop)) names.push_back(std::move(piece.text));
  return names;
}

std::string ArcherShop::Answer(WebShopState& state, std::string_view action) const {
  if (action.starts_with("think[")) return std::string(archer::kThought);
  if (const auto words = ArgumentOf("search", action)) {
    if (state.place != ShopPlace::kStart) return std::string(archer::kInvalid);
    shop_->Search(state, PythonLower(*words));
    return PageOf(state);
  }
  const auto name = ArgumentOf("click", action);
  return name ? Click(state, *name) : std::string(archer::kInvalid);
}

std::string ArcherShop::Click(WebShopState& state, std::string_view name) const {
  const std::vector<PagePiece> pieces = ClickablesOf(*shop_, state);
  const auto piece = std::ranges::find(pieces, name, &PagePiece::text);
  if (piece == pieces.end()) return std::string(archer::kInvalid);
  if (piece->kind == PieceKind::kOptionValue) {
    shop_->Choose(state, PythonLower(name));
    return fmt::format("{}{}.", archer::kClickedBefore, name);
  }
  shop_->Click(state, PythonLower(name));
  return PageOf(state);
}

std::string ArcherShop::PageOf(const WebShopState& state) const {
  return ArcherText(shop_->PageOf(state), QuotedInAddress(state));
}

std::string ArcherShop::InstructionPart(const WebShopState& state) const {
  return fmt::format("{}{}", archer::kInstruction,
                     PythonUnescape(std::string(PythonStrip(shop_->Instruction(state)))));
}

}  // namespace agentr
