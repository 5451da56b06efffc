#include "games/webshop/shop_hash.h"

#include <fmt/format.h>

#include <iterator>

#include "common/hash.h"

namespace agentr {
namespace {

constexpr size_t kBlock = 1 << 20;  // bytes; a chain of blocks limits the memory

void Append(std::string_view text, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}:{};", text.size(), text);
}

void Append(Texts texts, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}[", texts.size());
  for (const std::string_view text : texts) Append(text, out);
}

void Append(const Product& product, GoalKind goals, std::string& out) {
  for (const std::string_view text :
       {product.asin, product.title, product.description, product.category, product.query,
        product.product_category, product.image}) {
    Append(text, out);
  }
  Append(product.bullets, out);
  Append(product.attributes, out);
  fmt::format_to(std::back_inserter(out), "{}[", product.options.size());
  for (const ProductOption& option : product.options) {
    Append(option.name, out);
    Append(option.values, out);
  }
  fmt::format_to(std::back_inserter(out), "{}-{}={};", product.first_price,
                 product.has_price_range ? product.last_price : product.first_price, product.price);
  if (goals == GoalKind::kSynthetic) {
    Append(product.has_instruction ? product.instruction : std::string_view("-"), out);
    Append(product.instruction_attributes, out);
    return;
  }
  fmt::format_to(std::back_inserter(out), "{}[", product.human_instructions.size());
  for (const HumanInstruction& instruction : product.human_instructions) {
    Append(instruction.text, out);
    Append(instruction.attributes, out);
    Append(instruction.options, out);
  }
}

}  // namespace

std::string ShopHash(const Catalogue& catalogue, GoalKind goals, std::string_view options) {
  std::string block(options);
  for (const Product& product : catalogue.products()) {
    Append(product, goals, block);
    if (block.size() >= kBlock) block = Sha256(block);
  }
  return Sha256(block);
}

}  // namespace agentr
