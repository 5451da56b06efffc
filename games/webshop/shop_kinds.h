// The kinds of products of the built-in web shop, and their possible attributes.
//
// Both are editable texts, configs/webshop/kinds.txt and attributes.txt, which explain their format
// at the beginning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// "machine washable", "rubber sole".
struct ShopAttribute {
  std::string name;
  std::string how;  // "is", or the words between a noun and the attribute: "with a", "made of"
  std::vector<std::string> sentences;
};

// The grammatical number of a noun: a lamp, some shampoo, a pair of jeans, some gummies.
enum class NounForm { kOne, kMass, kPair, kMany };

struct KindOption {
  std::string name;
  std::vector<std::string> values;  // in their usual order; at least two
};

struct ShopKind {
  std::string name;
  std::string category;
  std::string path;  // at least three levels with " › " between them
  std::vector<std::string> queries;
  NounForm form = NounForm::kOne;
  std::vector<std::string> nouns;
  // Alternatives are in one list: a product has at most one attribute of each list.
  std::vector<std::vector<const ShopAttribute*>> attributes;
  std::vector<std::string> materials, details, audiences, packs;
  std::vector<KindOption> options;  // at most 3
  double lowest_price = 0;          // dollars
  double highest_price = 0;
  std::vector<std::string> about;   // sentences with slots, for descriptions; at least two
  std::vector<std::string> points;  // bullets with slots; at least three
};

// The smallest number of attribute lists of a kind: four that a group of products shares, and one
// for each of its five members.
inline constexpr size_t kLeastAttributes = 9;

// `name` is the file's name in messages. They throw FatalError(kFile) "name:line: reason".
std::vector<ShopAttribute> ParseShopAttributes(std::string_view text, std::string_view name);
std::vector<ShopKind> ParseShopKinds(std::string_view text, std::string_view name,
                                     const std::vector<ShopAttribute>& attributes);

// The built-in ones, parsed once per process.
const std::vector<ShopAttribute>& BuiltInShopAttributes();
const std::vector<ShopKind>& BuiltInShopKinds();

}  // namespace agentr
