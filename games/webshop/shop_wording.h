// The wording of the built-in web shop and its shoppers: brands, sentence patterns, and the grammar
// that puts attributes around a noun. All words come from configs/webshop/wording.txt and
// kinds.txt.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "games/webshop/shop_kinds.h"

namespace agentr {

struct ShopWording {
  std::vector<std::string> brand_starts, brand_middles, brand_ends;
  std::vector<std::string> titles;
  std::vector<std::string> attribute_bullets;
  std::vector<std::string> summaries;
  std::vector<std::string> instructions;
  std::vector<std::string> human_instructions;
  // By the name of an option, or "other": phrases that ask for a value.
  std::map<std::string, std::vector<std::string>, std::less<>> option_words;
};

// `name` is the file's name in messages. Throws FatalError(kFile) "name:line: reason".
ShopWording ParseShopWording(std::string_view text, std::string_view name);
const ShopWording& BuiltInShopWording();

// An invented name.
std::string DrawBrand(const ShopWording& wording, RandomStream& random);

// The pattern with each {slot} replaced by the result of `slot` for its name. Remains of empty
// slots are removed: doubled spaces and commas, a comma or dash at either end.
std::string FillSlots(std::string_view pattern,
                      const std::function<std::string(std::string_view)>& slot);

// "a lamp", "an hour glass", "a usb cable".
std::string WithArticle(std::string_view phrase);

// "Bed Pillow for Side Sleepers"; "USB", not "Usb".
std::string TitleCase(std::string_view phrase);

// The text with a capital first letter, and "USB" instead of "usb".
std::string Sentence(std::string_view text);

// "a", "a and b", "a, b and c".
std::string JoinWords(std::span<const std::string> words);

using AttributeList = std::span<const ShopAttribute* const>;

// A noun with its attributes.
class ShopPhrase {
 public:
  ShopPhrase(NounForm form, std::string_view noun, AttributeList attributes);

  // The value of the slots of wording.txt for nouns and attributes: "noun", "a noun", "what", "a
  // what", "that is", "it is"; empty for others.
  std::string Slot(std::string_view name) const;

 private:
  bool plural() const { return form_ == NounForm::kPair || form_ == NounForm::kMany; }
  std::string Counted(std::string_view phrase) const;  // with the article for the form
  std::string What() const;
  std::string Is() const;  // "is foldable and comes with a lid"

  const NounForm form_;
  const std::string_view noun_;
  std::vector<const ShopAttribute*> attributes_;  // those with "is" come first
};

// "rubber sole"; "no artificial flavors" for "made without".
std::string AttributeLabel(const ShopAttribute& attribute);

}  // namespace agentr
