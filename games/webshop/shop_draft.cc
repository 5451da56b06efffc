#include "games/webshop/shop_draft.h"

#include <array>
#include <cmath>

#include "games/webshop/shop_wording.h"

namespace agentr {
namespace {

using Attributes = std::vector<const ShopAttribute*>;

constexpr size_t kLongestTitle = 150;  // in bytes, as long as there are attributes to leave out

constexpr int kDigits = 9;
constexpr uint64_t kBase = 36;
constexpr uint64_t kAsins = 101'559'956'668'416;  // 36^9

uint64_t ReverseDigits(uint64_t value) {
  uint64_t reversed = 0;
  for (int i = 0; i < kDigits; ++i, value /= kBase) reversed = reversed * kBase + value % kBase;
  return reversed;
}

std::string_view WithoutArticle(std::string_view phrase) {
  for (const std::string_view article : {"a ", "an ", "the "}) {
    if (phrase.starts_with(article)) return phrase.substr(article.size());
  }
  return phrase;
}

// The attributes of the title: those before the noun, and the others.
struct TitleAttributes {
  std::string before, after;
};

TitleAttributes NameAttributes(const ShopGroup& group, const Attributes& named) {
  // Attributes that do not directly precede the noun need commas.
  const bool lean = group.title.find("{before} {noun}") != std::string_view::npos;
  TitleAttributes texts;
  for (const ShopAttribute* attribute : named) {
    const bool is = attribute->how == "is";
    std::string& text = is ? texts.before : texts.after;
    if (!text.empty()) text += is && lean ? " " : ", ";
    text += AttributeLabel(*attribute);
  }
  return texts;
}

std::string Title(const ShopGroup& group, const ShopMember& member) {
  Attributes named = group.in_title;
  if (group.own_in_title) named.insert(named.begin(), member.own);
  while (true) {
    const TitleAttributes attributes = NameAttributes(group, named);
    std::string title = FillSlots(group.title, [&](std::string_view slot) {
      if (slot == "before") return attributes.before;
      if (slot == "after") return attributes.after;
      if (slot == "detail") return std::string(WithoutArticle(group.detail));
      return GroupSlot(group, member, slot);
    });
    if (title.size() <= kLongestTitle || named.size() <= 1) return TitleCase(title);
    named.pop_back();
  }
}

std::vector<std::string> Bullets(const ShopGroup& group, const ShopMember& member) {
  std::vector<std::string> bullets = group.bullets;
  if (group.own_in_bullets) {
    // Members with the same own attribute use the same words for it.
    RandomStream words = RandomStream(bullets.size()).Split(member.own->name);
    bullets.insert(bullets.begin() + static_cast<ptrdiff_t>(group.own_bullet_place),
                   AttributeBullet(group.own_bullet, *member.own, words));
  }
  return bullets;
}

double DrawPaid(const DraftPrice& price, RandomStream& random) {
  if (!price.ranged) return price.first;
  const double drawn = price.first + (price.last - price.first) * random.Uniform();
  return std::round(drawn * 100) / 100;
}

// One to three wanted attributes; the own one, which distinguishes a product from its neighbours,
// comes first.
Attributes DrawWanted(const ShopGroup& group, const ShopMember& member, RandomStream& random) {
  Attributes wanted = random.Sample(group.core, random.Below(3));
  wanted.insert(wanted.begin(), member.own);
  return wanted;
}

std::vector<std::string_view> Names(const Attributes& attributes) {
  std::vector<std::string_view> names;
  for (const ShopAttribute* attribute : attributes) names.push_back(attribute->name);
  return names;
}

std::string OptionWords(std::string_view name, std::string_view value, RandomStream& random) {
  const auto& all = BuiltInShopWording().option_words;
  const auto at = all.find(name);
  const auto& words = at == all.end() ? all.find("other")->second : at->second;
  return FillSlots(random.Pick(words), [&](std::string_view slot) {
    return slot == "a value" ? WithArticle(value) : std::string(value);
  });
}

DraftHumanInstruction DrawHuman(const ShopGroup& group, const ShopMember& member,
                                RandomStream& random) {
  DraftHumanInstruction human;
  const Attributes wanted = DrawWanted(group, member, random);
  human.attributes = Names(wanted);
  std::vector<std::string> words;
  for (const DraftOption& option : member.options) {
    if (random.Chance(0.2)) continue;
    human.options.push_back(random.Pick(option.values));
    words.push_back(OptionWords(option.name, human.options.back(), random));
  }
  const ShopPhrase phrase(group.kind->form, group.noun, wanted);
  const auto& patterns = BuiltInShopWording().human_instructions;
  human.text = FillSlots(random.Pick(patterns), [&](std::string_view slot) {
    return slot == "options" ? JoinWords(words) : phrase.Slot(slot);
  });
  return human;
}

void DrawInstructions(const ShopGroup& group, const ShopMember& member, RandomStream& random,
                      ProductDraft& draft) {
  if (random.Chance(0.8)) {
    const Attributes wanted = DrawWanted(group, member, random);
    draft.instruction_attributes = Names(wanted);
    const ShopPhrase phrase(group.kind->form, group.noun, wanted);
    const auto& patterns = BuiltInShopWording().instructions;
    draft.instruction =
        FillSlots(random.Pick(patterns), [&](std::string_view slot) { return phrase.Slot(slot); });
  }
  if (random.Chance(1.0 / 3)) {
    const int count = random.Chance(0.3) ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      draft.human_instructions.push_back(DrawHuman(group, member, random));
    }
  }
}

}  // namespace

std::string ShopAsin(const RandomStream& shop, uint64_t number) {
  // Each step is a bijection: factors that are coprime with 36, sums, reversed digits.
  static constexpr std::array<uint64_t, 3> kFactors = {99'991, 131'071, 104'729};
  RandomStream random = shop.Split("asins");
  uint64_t value = number;
  for (const uint64_t factor : kFactors) {
    value = ReverseDigits((value * factor + random.Below(kAsins)) % kAsins);
  }
  std::string asin(1 + kDigits, 'B');
  for (int i = kDigits; i > 0; --i, value /= kBase) {
    asin[static_cast<size_t>(i)] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % kBase];
  }
  return asin;
}

ProductDraft DraftProduct(const RandomStream& shop, uint64_t number, const ShopGroup& group,
                          const ShopMember& member) {
  RandomStream random = shop.Split("products").Split(number);
  ProductDraft draft;
  draft.asin = ShopAsin(shop, number);
  draft.title = Title(group, member);
  draft.image = "images/" + draft.asin + ".jpg";
  draft.bullets = Bullets(group, member);
  Attributes attributes = group.core;
  attributes.push_back(member.own);
  random.Shuffle(attributes);
  draft.attributes = Names(attributes);
  draft.price = DrawPaid(member.price, random);
  DrawInstructions(group, member, random, draft);
  return draft;
}

}  // namespace agentr
