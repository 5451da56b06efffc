#include "games/webshop/shop_kinds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kAttributesText =
    "a | is | One.\nb | with a | Two. | Three.\nc | for | F.\nd | made of | G.\ne | in a | H.\n"
    "f | is | I.\ng | is | J.\nh | is | K.\ni | is | L.\nj | is | M.\n";

// A kind that can be read; a test spoils one line.
std::string Kind() {
  return "@colors = red, blue\n[lamp]\ncategory = garden\npath = Home › Light › Lamps\n"
         "queries = lamp, light\nnouns = one: lamp, desk lamp\n"
         "attributes = a / b, c, d, e, f, g, h, i, j\nmaterials = brass\ndetails = a shade\n"
         "for = desks\npacks = 1 Pack\noption color = @colors\noption size = small, large\n"
         "price = 5 20\nabout = A.\nabout = B.\npoint = C.\npoint = D.\npoint = E.\n";
}

std::vector<ShopKind> Parse(const std::string& text) {
  static const auto attributes = ParseShopAttributes(kAttributesText, "a.txt");
  return ParseShopKinds(text, "k.txt", attributes);
}

// What the parser says once `line` stands in place of the line that begins with `key`.
std::string ErrorWith(const std::string& key, const std::string& line) {
  std::istringstream lines(Kind());
  std::string spoilt;
  for (std::string each; std::getline(lines, each);) {
    spoilt += (each.starts_with(key) ? line : each) + "\n";
  }
  return FatalErrorOf(ExitCode::kFile, [&] { Parse(spoilt); });
}

TEST(ShopKindsTest, ReadsAKind) {
  const auto kinds = Parse("# comment\n\n" + Kind());
  ASSERT_EQ(kinds.size(), 1u);
  const ShopKind& kind = kinds[0];
  EXPECT_EQ(kind.name, "lamp");
  EXPECT_EQ(kind.form, NounForm::kOne);
  EXPECT_THAT(kind.nouns, ElementsAre("lamp", "desk lamp"));
  ASSERT_EQ(kind.attributes.size(), 9u);
  ASSERT_EQ(kind.attributes[0].size(), 2u);
  EXPECT_EQ(kind.attributes[0][1]->how, "with a");
  EXPECT_THAT(kind.attributes[0][1]->sentences, ElementsAre("Two.", "Three."));
  ASSERT_EQ(kind.options.size(), 2u);
  EXPECT_EQ(kind.options[0].name, "color");
  EXPECT_THAT(kind.options[0].values, ElementsAre("red", "blue"));
  EXPECT_EQ(kind.lowest_price, 5);
  EXPECT_EQ(kind.highest_price, 20);
  EXPECT_THAT(kind.about, ElementsAre("A.", "B."));
}

TEST(ShopKindsTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorWith("category", "category = toys"), "k.txt:3: unknown category: 'toys'");
  EXPECT_EQ(ErrorWith("path", "path = Home › Lamps"),
            "k.txt:4: expected three levels with ' › ' between them");
  EXPECT_THAT(ErrorWith("nouns", "nouns = lamp"), HasSubstr("k.txt:6: expected 'one:'"));
  EXPECT_EQ(ErrorWith("attributes", "attributes = a, x"),
            "k.txt:7: 'x' is not in the file of attributes");
  EXPECT_EQ(ErrorWith("attributes", "attributes = a, b"),
            "k.txt:7: expected at least 9 attributes");
  EXPECT_EQ(ErrorWith("attributes", "attributes = a / a"), "k.txt:7: 'a' occurs twice");
  EXPECT_EQ(ErrorWith("option size", "option size = one"),
            "k.txt:13: expected at least two values");
  EXPECT_EQ(ErrorWith("option size", "option size = a, b, a"), "k.txt:13: a value occurs twice");
  EXPECT_EQ(ErrorWith("option size", "option size = @x"),
            "k.txt:13: the pool @x is not defined yet");
  EXPECT_EQ(ErrorWith("price", "price = 20 5"), "k.txt:14: the lower price must come first");
  EXPECT_EQ(ErrorWith("price", "price = 5 x"), "k.txt:14: 'x' is not a number of dollars");
  EXPECT_EQ(ErrorWith("price", "prices = 5 20"), "k.txt:14: unknown key: 'prices'");
  EXPECT_EQ(ErrorWith("packs", "packs = 1 Pack,"), "k.txt:11: one side of ',' is empty");
  EXPECT_EQ(ErrorWith("packs", "for = walls"), "k.txt:11: 'for' occurs twice in [lamp]");
  EXPECT_EQ(ErrorWith("packs", "packs"), "k.txt:11: expected a '=' in this line");
  EXPECT_EQ(ErrorWith("packs", ""), "k.txt:19: [lamp], which ends here, has no packs");
  EXPECT_EQ(ErrorWith("about = B", ""), "k.txt:19: [lamp], which ends here, has no second 'about'");
  EXPECT_EQ(ErrorWith("[lamp]", "[lamp"), "k.txt:2: '[' without ']' at the end of the line");
  EXPECT_EQ(ErrorWith("[lamp]", ""), "k.txt:3: this line must come after a [kind]");
}

TEST(ShopKindsTest, AttributesAreStrict) {
  const auto error = [](std::string_view text) {
    return FatalErrorOf(ExitCode::kFile, [&] { ParseShopAttributes(text, "a.txt"); });
  };
  EXPECT_EQ(error("a | is"), "a.txt:1: expected: attribute | how | sentence");
  EXPECT_EQ(error("a | has | A."), "a.txt:1: 'has' is not is, with, for, in or made");
  EXPECT_EQ(error("a | is | A.\n#\na | is | A."), "a.txt:3: 'a' occurs twice");
  EXPECT_EQ(error("# nothing"), "a.txt:1: the file contains no attribute");
}

TEST(ShopKindsTest, TheBuiltInKindsCoverTheFiveCategories) {
  std::set<std::string> categories, names, used;
  for (const ShopKind& kind : BuiltInShopKinds()) {
    categories.insert(kind.category);
    names.insert(kind.name);
    for (const auto& matter : kind.attributes) {
      for (const ShopAttribute* attribute : matter) used.insert(attribute->name);
    }
  }
  EXPECT_EQ(categories.size(), 5u);
  EXPECT_GE(names.size(), 40u);
  // An attribute that nothing can have is a slip of the pen.
  EXPECT_EQ(used.size(), BuiltInShopAttributes().size());
}

// A product that must not have an attribute would have it all the same: by the rules of the reward
// a text of the product counts, and so does an attribute all of whose words are in another's.
TEST(ShopKindsTest, NoSentenceOfAKindNamesAnAttributeOfIt) {
  for (const ShopKind& kind : BuiltInShopKinds()) {
    std::string text;
    for (const auto* list : {&kind.nouns, &kind.materials, &kind.details, &kind.audiences,
                             &kind.packs, &kind.about, &kind.points}) {
      for (const std::string& one : *list) text += one + "\n";
    }
    std::ranges::transform(text, text.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    std::vector<const ShopAttribute*> all;
    for (const auto& matter : kind.attributes) all.insert(all.end(), matter.begin(), matter.end());
    for (const ShopAttribute* one : all) {
      EXPECT_THAT(text, ::testing::Not(HasSubstr(one->name))) << kind.name;
      for (const ShopAttribute* other : all) {
        if (one == other) continue;
        EXPECT_THAT(" " + other->name + " ", ::testing::Not(HasSubstr(" " + one->name + " ")))
            << kind.name;
        for (const std::string& sentence : other->sentences) {
          EXPECT_THAT(sentence, ::testing::Not(HasSubstr(one->name)))
              << kind.name << ": " << other->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace agentr
