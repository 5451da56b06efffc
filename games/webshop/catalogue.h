// The products of a WebShop: immutable, compact, shared by all sessions.
//
// Texts are stored in one arena, repeated ones (categories, option names and values, attributes)
// only once. A product is a fixed record of views into it; a catalogue of 1,200,000 products takes
// about 1 KB of memory per product.
//
// Source: WebShop (Yao et al. 2022), section 3; the fields are those that its pages and rewards
// use.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace agentr {

using Texts = std::span<const std::string_view>;

// An option such as "color", with its values in the order shown. Lower case.
struct ProductOption {
  std::string_view name;
  Texts values;
};

// An instruction that a person wrote for a product (items_human_ins.json).
struct HumanInstruction {
  std::string_view text;
  Texts attributes;
  Texts options;  // only values, without names
};

struct Product {
  std::string_view asin;  // at most 10 characters, upper case in WebShop's own files
  std::string_view title;
  std::string_view description;
  std::string_view category;          // "beauty"
  std::string_view query;             // the words by which it was found; lower case, without outer
                                      // spaces
  std::string_view product_category;  // "Beauty & Personal Care › Hair Care › Shampoo"
  std::string_view image;             // address, or empty
  Texts bullets;
  Texts attributes;  // {"DUMMY_ATTR"} if the files have none
  std::span<const ProductOption> options;

  // In dollars. The tag of a ranged price shows both ends (even equal ones), in the order of the
  // file.
  bool has_price_range = false;
  double first_price = 100;
  double last_price = 100;  // of a range
  double price = 100;       // the actual price: drawn once from the range, by the shop's seed

  // The synthetic goal of the product; has_instruction is false if there is none.
  bool has_instruction = false;
  std::string_view instruction;
  Texts instruction_attributes;
  std::span<const HumanInstruction> human_instructions;
};

// "$20.0", "$5.5 to $12.0": the price as the pages show it.
std::string PriceTag(const Product& product);

class Catalogue {
 public:
  Catalogue();
  Catalogue(Catalogue&&) noexcept;
  Catalogue& operator=(Catalogue&&) = delete;
  ~Catalogue();

  // In the order of loading; a product's number is its index here.
  std::span<const Product> products() const { return products_; }

  // The product of this asin, or nullptr.
  const Product* Find(std::string_view asin) const;

  // --- Filling, by one thread and before it is shared ------------------------------------------

  // Copies a text into the arena. `Intern` stores equal texts only once.
  std::string_view Keep(std::string_view text);
  std::string_view Intern(std::string_view text);

  // Copies an array into the arena.
  Texts Keep(Texts texts);
  std::span<const ProductOption> Keep(std::span<const ProductOption> options);
  std::span<const HumanInstruction> Keep(std::span<const HumanInstruction> instructions);

  // The product of this asin, to complete its fields from another file, or nullptr.
  Product* FindToFill(std::string_view asin);

  // Draws the price of each product with a ranged price: uniform in the range, from the seed and
  // its asin.
  void DrawPrices(uint64_t seed);

  // Appends a product whose texts are already in the arena. Appends nothing and returns false if
  // its asin exists already.
  bool Add(const Product& product);

 private:
  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_;
  std::unordered_set<std::string_view> interned_;
  std::vector<Product> products_;
  std::unordered_map<std::string_view, uint32_t> by_asin_;
};

}  // namespace agentr
