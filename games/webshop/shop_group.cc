#include "games/webshop/shop_group.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "games/webshop/shop_wording.h"

namespace agentr {
namespace {

using Attributes = std::vector<const ShopAttribute*>;

const ShopKind& KindOf(const RandomStream& shop, uint64_t number) {
  const std::vector<ShopKind>& kinds = BuiltInShopKinds();
  std::vector<uint32_t> order(kinds.size());
  std::iota(order.begin(), order.end(), 0u);
  RandomStream random = shop.Split("kinds").Split(number / kinds.size());
  random.Shuffle(order);
  return kinds[order[number % kinds.size()]];
}

// Whole dollars with a usual ending.
double RoundPrice(double dollars, RandomStream& random) {
  static constexpr std::array<int, 8> kEndings = {99, 99, 95, 49, 50, 0, 89, 98};
  int cents = kEndings[random.Below(kEndings.size())];
  if (random.Chance(0.15)) cents = static_cast<int>(random.Below(100));
  return (std::floor(dollars) * 100 + cents) / 100;
}

DraftPrice DrawPrice(double base, bool ranged, RandomStream& random) {
  DraftPrice price{ranged, RoundPrice(base, random), 0};
  if (ranged) price.last = RoundPrice(price.first * (1.2 + random.Uniform()) + 2, random);
  return price;
}

// Some of the values, in their usual order.
std::vector<std::string_view> DrawValues(const KindOption& option, size_t most,
                                         RandomStream& random) {
  std::vector<uint32_t> places(option.values.size());
  std::iota(places.begin(), places.end(), 0u);
  // The smaller of two draws, so that long lists are rare.
  const size_t count = 2 + std::min(random.Below(most - 1), random.Below(most - 1));
  places = random.Sample(std::move(places), count);
  std::ranges::sort(places);
  std::vector<std::string_view> values;
  for (const uint32_t place : places) values.push_back(option.values[place]);
  return values;
}

std::vector<DraftOption> DrawOptions(const ShopKind& kind, RandomStream& random) {
  std::vector<DraftOption> options;
  for (const KindOption& option : kind.options) {
    // A third option would multiply the number of goals, so it has few values.
    const size_t most = options.size() == 2 ? 3 : 8;
    if (random.Chance(0.85)) options.push_back({option.name, DrawValues(option, most, random)});
  }
  return options;
}

// Other values for one of the options, if there are any.
void ChangeOption(const ShopKind& kind, std::vector<DraftOption>& options, RandomStream& random) {
  if (options.empty()) return;
  const std::vector<DraftOption> before = options;
  DraftOption& changed = options[random.Below(options.size())];
  const auto named = [&](const KindOption& option) { return option.name == changed.name; };
  const KindOption& option = *std::ranges::find_if(kind.options, named);
  const size_t most = std::max<size_t>(3, changed.values.size());
  for (int tries = 0; tries < 8 && options == before; ++tries) {
    changed.values = DrawValues(option, most, random);
  }
}

// Attributes for all members, and one own attribute for each. Own attributes are preferably
// alternatives of the same property: for a buyer of "long sleeve" the twin with short sleeves is
// the worst choice.
struct Shares {
  Attributes core;
  Attributes own;
};

Shares ShareAttributes(const ShopKind& kind, size_t members, RandomStream& random) {
  std::vector<uint32_t> matters(kind.attributes.size());
  std::iota(matters.begin(), matters.end(), 0u);
  random.Shuffle(matters);
  if (random.Chance(0.5)) {
    const auto open = [&](uint32_t matter) { return kind.attributes[matter].size() > 1; };
    const auto choice = std::ranges::find_if(matters, open);
    if (choice != matters.end()) std::iter_swap(matters.begin(), choice);
  }
  Shares shares;
  shares.own = random.Sample(kind.attributes[matters[0]], members);
  size_t next = 1;
  while (shares.own.size() < members) {
    shares.own.push_back(random.Pick(kind.attributes[matters[next++]]));
  }
  const size_t core = 2 + random.Below(3);
  for (size_t i = 0; i < core && next < matters.size(); ++i) {
    shares.core.push_back(random.Pick(kind.attributes[matters[next++]]));
  }
  return shares;
}

void DrawMembers(ShopGroup& group, const Attributes& own, RandomStream& random) {
  const ShopKind& kind = *group.kind;
  const double skew = random.Uniform();
  const double base = kind.lowest_price + (kind.highest_price - kind.lowest_price) * skew * skew;
  ShopMember first{own[0], random.Pick(kind.packs), DrawOptions(kind, random), {}};
  const bool ranged = !first.options.empty() && random.Chance(0.27);
  first.price = DrawPrice(base, ranged, random);
  group.members.push_back(first);
  for (size_t m = 1; m < own.size(); ++m) {
    ShopMember member = first;
    const double draw = random.Uniform();
    if (m > 1 && draw < 0.15) {
      member.price = DrawPrice(first.price.first * (1.25 + random.Uniform()), ranged, random);
      while (member.pack == first.pack) member.pack = random.Pick(kind.packs);
    } else if (m > 1 && draw < 0.3) {
      ChangeOption(kind, member.options, random);
    }
    const auto same = [&](const ShopMember& other) {
      return other.own == member.own && other.options == member.options &&
             other.price.first == member.price.first;
    };
    if (std::ranges::any_of(group.members, same)) {
      member = first;
      member.own = own[m];
    }
    group.members.push_back(std::move(member));
  }
}

void DrawBullets(ShopGroup& group, size_t named, RandomStream& random) {
  const ShopWording& wording = BuiltInShopWording();
  group.own_in_title = random.Chance(0.65);
  group.own_in_bullets = !group.own_in_title || random.Chance(0.6);
  group.own_bullet = random.Pick(wording.attribute_bullets);
  for (size_t i = 0; i < named; ++i) {
    group.bullets.push_back(AttributeBullet(group.own_bullet, *group.core[i], random));
  }
  const auto slot = [&](std::string_view name) { return GroupSlot(group, {}, name); };
  for (const std::string& point : random.Sample(group.kind->points, 2)) {
    group.bullets.push_back(Sentence(FillSlots(point, slot)));
  }
  random.Shuffle(group.bullets);
  group.own_bullet_place = random.Below(group.bullets.size() + 1);
}

// Two or three sentences, and one about the attributes from index `named` on, which no bullet
// names.
void DrawDescription(ShopGroup& group, size_t named, RandomStream& random) {
  const ShopKind& kind = *group.kind;
  const auto slot = [&](std::string_view name) { return GroupSlot(group, {}, name); };
  const size_t skipped = random.Chance(0.5) ? random.Below(kind.about.size()) : kind.about.size();
  for (size_t i = 0; i < kind.about.size(); ++i) {
    if (i == skipped) continue;
    if (!group.description.empty()) group.description += ' ';
    group.description += Sentence(FillSlots(kind.about[i], slot));
  }
  if (named == group.core.size()) return;
  const ShopPhrase rest(kind.form, group.noun, std::span(group.core).subspan(named));
  const std::string& summary = random.Pick(BuiltInShopWording().summaries);
  group.description += ' ' + Sentence(FillSlots(summary, [&](std::string_view name) {
                         return name == "It is" ? Sentence(rest.Slot("it is")) : rest.Slot(name);
                       }));
}

}  // namespace

std::array<size_t, 5> GroupSizes(const RandomStream& shop, uint64_t block) {
  std::vector<size_t> sizes = {3, 4, 4, 4, 5};
  RandomStream random = shop.Split("blocks").Split(block);
  random.Shuffle(sizes);
  std::array<size_t, 5> result;
  std::ranges::copy(sizes, result.begin());
  return result;
}

ShopGroup DrawGroup(const RandomStream& shop, uint64_t number, size_t size) {
  RandomStream random = shop.Split("groups").Split(number);
  ShopGroup group;
  group.kind = &KindOf(shop, number);
  group.brand = DrawBrand(BuiltInShopWording(), random);
  group.query = random.Pick(group.kind->queries);
  group.noun = random.Pick(group.kind->nouns);
  group.material = random.Pick(group.kind->materials);
  group.detail = random.Pick(group.kind->details);
  group.audience = random.Pick(group.kind->audiences);
  group.title = random.Pick(BuiltInShopWording().titles);
  Shares shares = ShareAttributes(*group.kind, size, random);
  group.core = std::move(shares.core);
  group.in_title = random.Sample(group.core, 1 + random.Below(2));
  const size_t named = 1 + random.Below(2);  // number of core attributes with a bullet
  DrawMembers(group, shares.own, random);
  DrawBullets(group, named, random);
  DrawDescription(group, named, random);
  return group;
}

std::string GroupSlot(const ShopGroup& group, const ShopMember& member, std::string_view slot) {
  if (slot == "brand") return group.brand;
  if (slot == "material") return std::string(group.material);
  if (slot == "detail") return std::string(group.detail);
  if (slot == "for") return std::string(group.audience);
  if (slot == "pack") return std::string(member.pack);
  return ShopPhrase(group.kind->form, group.noun, {}).Slot(slot);
}

std::string AttributeBullet(std::string_view pattern, const ShopAttribute& attribute,
                            RandomStream& random) {
  const std::string label = AttributeLabel(attribute);
  return FillSlots(pattern, [&](std::string_view slot) {
    if (slot == "Name") return Sentence(label);
    if (slot == "sentence") return random.Pick(attribute.sentences);
    if (slot != "NAME") return std::string();
    std::string name = label;
    for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return name;
  });
}

}  // namespace agentr
