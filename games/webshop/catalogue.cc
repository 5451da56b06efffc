#include "games/webshop/catalogue.h"

#include <cstring>

#include "common/python_text.h"
#include "common/random.h"

namespace agentr {
namespace {

template <typename T>
std::span<const T> Copy(std::span<const T> items, std::pmr::memory_resource& arena) {
  if (items.empty()) return {};
  auto* const copy = static_cast<T*>(arena.allocate(items.size_bytes(), alignof(T)));
  std::uninitialized_copy(items.begin(), items.end(), copy);
  return {copy, items.size()};
}

}  // namespace

std::string PriceTag(const Product& product) {
  std::string tag = "$" + PythonFloat(product.first_price);
  if (product.has_price_range) tag += " to $" + PythonFloat(product.last_price);
  return tag;
}

Catalogue::Catalogue()
    : arena_(std::make_unique<std::pmr::monotonic_buffer_resource>(size_t{1} << 20)) {}
Catalogue::Catalogue(Catalogue&&) noexcept = default;
Catalogue::~Catalogue() = default;

const Product* Catalogue::Find(std::string_view asin) const {
  const auto at = by_asin_.find(asin);
  return at == by_asin_.end() ? nullptr : &products_[at->second];
}

Product* Catalogue::FindToFill(std::string_view asin) {
  const auto at = by_asin_.find(asin);
  return at == by_asin_.end() ? nullptr : &products_[at->second];
}

void Catalogue::DrawPrices(uint64_t seed) {
  const RandomStream prices = RandomStream(seed).Split("price");
  for (Product& product : products_) {
    product.price = product.first_price;
    if (!product.has_price_range) continue;
    product.price +=
        (product.last_price - product.first_price) * prices.Split(product.asin).Uniform();
  }
}

std::string_view Catalogue::Keep(std::string_view text) {
  if (text.empty()) return {};
  auto* const copy = static_cast<char*>(arena_->allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

std::string_view Catalogue::Intern(std::string_view text) {
  const auto at = interned_.find(text);
  return at != interned_.end() ? *at : *interned_.insert(Keep(text)).first;
}

Texts Catalogue::Keep(Texts texts) { return Copy(texts, *arena_); }

std::span<const ProductOption> Catalogue::Keep(std::span<const ProductOption> options) {
  return Copy(options, *arena_);
}

std::span<const HumanInstruction> Catalogue::Keep(std::span<const HumanInstruction> instructions) {
  return Copy(instructions, *arena_);
}

bool Catalogue::Add(const Product& product) {
  const auto number = static_cast<uint32_t>(products_.size());
  if (!by_asin_.emplace(product.asin, number).second) return false;
  products_.push_back(product);
  return true;
}

}  // namespace agentr
