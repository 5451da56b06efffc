#include "games/webshop/shop_generator.h"

#include <gmock/gmock.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <string>

#include "games/webshop/shop_draft.h"
#include "games/webshop/shop_wording.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void Write(std::string& out, Texts texts) {
  for (const std::string_view text : texts) out.append(text) += '|';
  out += '\n';
}

// Every field of a product, for comparing.
std::string Spell(const Product& product) {
  std::string out;
  Write(out, std::vector<std::string_view>{
                 product.asin, product.title, product.description, product.category, product.query,
                 product.product_category, product.image, product.instruction});
  for (const Texts texts : {product.bullets, product.attributes, product.instruction_attributes}) {
    Write(out, texts);
  }
  for (const ProductOption& option : product.options) {
    out += std::string(option.name) + ": ";
    Write(out, option.values);
  }
  for (const double number : {product.first_price, product.last_price, product.price}) {
    out += std::to_string(number) + " ";
  }
  out += product.has_price_range ? "ranged" : "single";
  out += product.has_instruction ? ", asked for" : ", not asked for";
  for (const HumanInstruction& human : product.human_instructions) {
    out.append("\n").append(human.text) += '\n';
    Write(out, human.attributes);
    Write(out, human.options);
  }
  return out;
}

std::vector<std::string> SpellShop(const Catalogue& shop) {
  std::vector<std::string> spelt;
  for (const Product& product : shop.products()) spelt.push_back(Spell(product));
  return spelt;
}

const Catalogue& DefaultShop() {
  static const Catalogue shop = GenerateShop(kDefaultShopSize, kDefaultShopSeed);
  return shop;
}

bool Has(Texts texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// All that a shopper can read of a product.
std::string Read(const Product& product) {
  std::string text = std::string(product.title) + "\n" + std::string(product.description);
  for (const std::string_view bullet : product.bullets) text.append("\n").append(bullet);
  return text;
}

// Ranges [first, last) of products of one group: they agree in description and kind.
std::vector<std::span<const Product>> Groups(const Catalogue& shop) {
  std::vector<std::span<const Product>> groups;
  const auto products = shop.products();
  for (size_t begin = 0; begin < products.size();) {
    size_t end = begin + 1;
    while (end < products.size() && products[end].description == products[begin].description) ++end;
    groups.push_back(products.subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

TEST(ShopGeneratorTest, TheSeedDecides) {
  const auto shop = SpellShop(DefaultShop());
  EXPECT_EQ(shop, SpellShop(GenerateShop(kDefaultShopSize, kDefaultShopSeed)));
  const auto other = SpellShop(GenerateShop(kDefaultShopSize, kDefaultShopSeed + 1));
  size_t equal = 0;
  for (size_t i = 0; i < shop.size(); ++i) equal += shop[i] == other[i];
  EXPECT_EQ(equal, 0u);
}

TEST(ShopGeneratorTest, ALargerShopBeginsWithTheSmaller) {
  const auto small = SpellShop(DefaultShop());
  for (const size_t count : {size_t{2000}, size_t{1003}}) {
    auto large = SpellShop(GenerateShop(count, kDefaultShopSeed));
    ASSERT_EQ(large.size(), count);
    large.resize(small.size());
    EXPECT_EQ(large, small);
  }
  EXPECT_EQ(GenerateShop(0, 1).products().size(), 0u);
}

TEST(ShopGeneratorTest, ThreadsDoNotMatter) {
  std::vector<std::string> by_threads[2];
  const tbb::global_control more(tbb::global_control::max_allowed_parallelism, 4);
  for (const int threads : {1, 4}) {
    tbb::task_arena arena(threads);
    arena.execute([&] { by_threads[threads / 4] = SpellShop(GenerateShop(20'000, 5)); });
  }
  EXPECT_EQ(by_threads[0], by_threads[1]);
}

TEST(ShopGeneratorTest, AsinsAreUniqueAndWellFormed) {
  const RandomStream shop(3);
  const std::regex pattern("B[0-9A-Z]{9}");
  std::set<std::string> asins;
  for (uint64_t i = 0; i < 20'000; ++i) asins.insert(ShopAsin(shop, i));
  // Numbers that a factor with a common divisor with 36 would send to the same place.
  const uint64_t far = 2'821'109'907'456;  // 36^8
  for (uint64_t i = 1; i < 36; ++i) asins.insert(ShopAsin(shop, i * far));
  EXPECT_EQ(asins.size(), 20'035u);
  for (const std::string& asin : asins) ASSERT_TRUE(std::regex_match(asin, pattern)) << asin;
}

void ExpectGoodText(std::string_view text) {
  EXPECT_FALSE(text.empty());
  const std::string all(text);
  for (const char* bad : {"  ", "[", "]", "{", "}", ",,", " ,", " .", "..", "a a ", "the the"}) {
    EXPECT_THAT(all, Not(HasSubstr(bad)));
  }
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) << all;
  EXPECT_NE(text.front(), ' ');
  EXPECT_NE(text.back(), ' ');
}

void ExpectGoodPrice(const Product& product) {
  for (const double price : {product.first_price, product.last_price, product.price}) {
    EXPECT_GT(price, 0);
    EXPECT_DOUBLE_EQ(price, std::round(price * 100) / 100);
  }
  if (product.has_price_range) {
    EXPECT_LT(product.first_price, product.last_price);
  }
  EXPECT_LE(product.first_price, product.price);
  EXPECT_LE(product.price, product.last_price);
}

void ExpectGoodInstructions(const Product& product) {
  EXPECT_EQ(product.has_instruction, !product.instruction.empty());
  if (product.has_instruction) {
    ExpectGoodText(product.instruction);
    EXPECT_EQ(product.instruction, Lower(product.instruction));
    EXPECT_NE(product.instruction.back(), '.');
    EXPECT_GE(product.instruction_attributes.size(), 1u);
    EXPECT_LE(product.instruction_attributes.size(), 3u);
  }
  for (const auto attribute : product.instruction_attributes) {
    EXPECT_TRUE(Has(product.attributes, attribute)) << attribute;
    EXPECT_THAT(std::string(product.instruction), HasSubstr(attribute));
  }
  for (const HumanInstruction& human : product.human_instructions) {
    ExpectGoodText(human.text);
    EXPECT_GE(human.attributes.size(), 1u);
    EXPECT_LE(human.attributes.size(), 3u);
    for (const auto one : human.attributes) EXPECT_TRUE(Has(product.attributes, one)) << one;
    for (const auto value : human.options) {
      EXPECT_THAT(std::string(human.text), HasSubstr(value));
      EXPECT_TRUE(std::ranges::any_of(
          product.options, [&](const auto& option) { return Has(option.values, value); }));
    }
  }
}

void ExpectGoodOptions(const Product& product) {
  EXPECT_LE(product.options.size(), 3u);
  for (const ProductOption& option : product.options) {
    EXPECT_GE(option.values.size(), 2u);
    EXPECT_LE(option.values.size(), 8u);
    EXPECT_EQ(std::set(option.values.begin(), option.values.end()).size(), option.values.size());
    for (const std::string_view value : option.values) {
      ExpectGoodText(value);
      EXPECT_EQ(value, Lower(value));
    }
  }
}

TEST(ShopGeneratorTest, EveryProductIsWhole) {
  const Catalogue shop = GenerateShop(5000, 8);
  ASSERT_EQ(shop.products().size(), 5000u);
  for (const Product& product : shop.products()) {
    SCOPED_TRACE(Spell(product));
    ExpectGoodText(product.title);
    EXPECT_GE(product.title.size(), 40u);
    EXPECT_LE(product.title.size(), 160u);
    ExpectGoodText(product.description);
    EXPECT_EQ(product.image, "images/" + std::string(product.asin) + ".jpg");
    EXPECT_EQ(product.query, Lower(product.query));
    EXPECT_GE(product.bullets.size(), 3u);
    EXPECT_LE(product.bullets.size(), 5u);
    for (const std::string_view bullet : product.bullets) ExpectGoodText(bullet);
    EXPECT_GE(product.attributes.size(), 3u);
    EXPECT_LE(product.attributes.size(), 8u);
    EXPECT_EQ(std::set(product.attributes.begin(), product.attributes.end()).size(),
              product.attributes.size());
    // What a product has can be read somewhere.
    for (const std::string_view one : product.attributes) {
      EXPECT_THAT(Lower(Read(product)), HasSubstr(one));
    }
    ExpectGoodOptions(product);
    ExpectGoodPrice(product);
    ExpectGoodInstructions(product);
    if (HasFailure()) break;
  }
}

TEST(ShopGeneratorTest, EveryKindIsSold) {
  std::set<std::string_view> paths;
  for (const Product& product : DefaultShop().products()) paths.insert(product.product_category);
  EXPECT_EQ(paths.size(), BuiltInShopKinds().size());
}

TEST(ShopGeneratorTest, GroupsHoldNearDuplicates) {
  size_t products = 0;
  for (const auto group : Groups(DefaultShop())) {
    products += group.size();
    EXPECT_GE(group.size(), 3u);
    EXPECT_LE(group.size(), 5u);
    std::set<std::set<std::string_view>> attributes;
    std::set<std::string> all;
    for (const Product& product : group) {
      EXPECT_EQ(product.product_category, group[0].product_category);
      attributes.emplace(product.attributes.begin(), product.attributes.end());
      std::string spelt = std::to_string(product.first_price);
      for (const auto one : std::set(product.attributes.begin(), product.attributes.end())) {
        spelt.append("|").append(one);
      }
      for (const ProductOption& option : product.options) Write(spelt, option.values);
      all.insert(std::move(spelt));
    }
    EXPECT_GE(attributes.size(), 2u) << Spell(group[0]);
    EXPECT_EQ(all.size(), group.size()) << Spell(group[0]);
  }
  EXPECT_EQ(products, kDefaultShopSize);
}

// The first wanted attribute is one that a neighbour with other attributes lacks, in its texts too.
TEST(ShopGeneratorTest, InstructionsTellNeighboursApart) {
  for (const auto group : Groups(DefaultShop())) {
    for (const Product& wanted : group) {
      if (!wanted.has_instruction) continue;
      const std::string_view own = wanted.instruction_attributes[0];
      size_t without = 0;
      for (const Product& other : group) {
        if (Has(other.attributes, own)) continue;
        ++without;
        EXPECT_THAT(Lower(Read(other)), Not(HasSubstr(own))) << Spell(wanted);
      }
      EXPECT_GE(without, 1u) << Spell(wanted);
    }
  }
}

size_t CountGoals(const Catalogue& shop) {
  size_t goals = 0;
  for (const Product& product : shop.products()) {
    size_t choices = 1;
    for (const ProductOption& option : product.options) choices *= option.values.size();
    if (product.has_instruction) goals += choices;
  }
  return goals;
}

TEST(ShopGeneratorTest, TheNumberOfGoalsCoversThePublishedIds) {
  EXPECT_GE(CountGoals(DefaultShop()), 6910u);
  EXPECT_LE(CountGoals(DefaultShop()), 12'000u);
  const double per_product = static_cast<double>(CountGoals(GenerateShop(20'000, 1))) / 20'000;
  EXPECT_NEAR(per_product, 10, 1);
}

TEST(ShopGeneratorTest, SharesAreThoseOfAShop) {
  const Catalogue shop = GenerateShop(10'000, 2);
  size_t ranged = 0, asked = 0, human = 0;
  for (const Product& product : shop.products()) {
    ranged += product.has_price_range;
    asked += product.has_instruction;
    human += !product.human_instructions.empty();
  }
  EXPECT_GT(ranged, 1500u);
  EXPECT_LT(ranged, 3500u);
  EXPECT_NEAR(static_cast<double>(asked), 8000, 200);
  EXPECT_NEAR(static_cast<double>(human), 3333, 200);
}

// The pattern with slots as "anything", for telling which one made a text.
std::regex PatternOf(const std::string& pattern) {
  const std::string any = std::regex_replace(pattern, std::regex("\\{[^}]*\\}"), ".+");
  return std::regex(any);
}

TEST(ShopGeneratorTest, ShoppersSpeakInManyWays) {
  std::vector<std::string> patterns = BuiltInShopWording().instructions;
  // Longest first: "i need {…}" also fits what longer patterns say.
  std::ranges::sort(patterns, std::ranges::greater(), &std::string::size);
  std::vector<std::regex> fits;
  for (const std::string& pattern : patterns) fits.push_back(PatternOf(pattern));
  std::set<size_t> seen;
  for (const Product& product : DefaultShop().products()) {
    if (!product.has_instruction) continue;
    const std::string text(product.instruction);
    const auto fit =
        std::ranges::find_if(fits, [&](const auto& f) { return regex_match(text, f); });
    ASSERT_NE(fit, fits.end()) << text;
    seen.insert(static_cast<size_t>(fit - fits.begin()));
  }
  EXPECT_GE(seen.size(), 25u);
}

TEST(ShopGeneratorTest, NoRealBrands) {
  std::string text;
  const Catalogue shop = GenerateShop(20'000, 1);
  for (const Product& product : shop.products()) text += Read(product) + "\n";
  text = Lower(text);
  for (const char* brand :
       {"nike",     "adidas",    "reebok",  "skechers",   "levi's",   "wrangler",
        "carhartt", "gucci",     "ikea",    "sony",       "samsung",  "iphone",
        "galaxy",   "bose",      "jbl",     "anker",      "logitech", "philips",
        "velcro",   "cordura",   "l'oreal", "maybelline", "nivea",    "pantene",
        "olay",     "colgate",   "oral-b",  "nestle",     "hershey",  "lindt",
        "kellogg",  "starbucks", "lipton",  "haribo",     "tabasco",  "barilla"}) {
    EXPECT_EQ(text.find(brand), std::string::npos) << brand;
  }
}

}  // namespace
}  // namespace agentr
