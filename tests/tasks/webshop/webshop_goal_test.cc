#include "tasks/webshop/webshop_goal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace agentr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Choices(const WebShopGoal& goal) {
  std::vector<std::string> out;
  for (const WebShopChoice& c : goal.choices)
    out.push_back(fmt::format("{}={}", c.option, c.value));
  return out;
}

TEST(WebShopGoal, ReadsChoicesAndPrice) {
  const WebShopGoal goal = ReadWebShopGoal(
      "Find me slim fit shirts with long sleeve with color: navy blue, and size: x-large, and "
      "price "
      "lower than 40.00 dollars");
  EXPECT_EQ(goal.text, "Find me slim fit shirts with long sleeve");
  EXPECT_THAT(Choices(goal), ElementsAre("color=navy blue", "size=x-large"));
  EXPECT_EQ(goal.price_limit, 40.0);
}

TEST(WebShopGoal, PartsMayBeMissing) {
  const WebShopGoal plain = ReadWebShopGoal("i need a mug with a lid");
  EXPECT_EQ(plain.text, "i need a mug with a lid");
  EXPECT_THAT(plain.choices, IsEmpty());
  EXPECT_EQ(plain.price_limit, std::nullopt);
  const WebShopGoal priced = ReadWebShopGoal("a mug, and price lower than 1000000.00 dollars");
  EXPECT_EQ(priced.text, "a mug");
  EXPECT_EQ(priced.price_limit, 1e6);
  const WebShopGoal chosen = ReadWebShopGoal("a mug with item package quantity: 2");
  EXPECT_THAT(Choices(chosen), ElementsAre("item package quantity=2"));
  EXPECT_EQ(chosen.price_limit, std::nullopt);
  const WebShopGoal vague = ReadWebShopGoal("a mug, and price lower than yours");
  EXPECT_EQ(vague.text, "a mug, and price lower than yours");
}

TEST(WebShopGoal, TextAndValuesMayHoldTheJoints) {
  const WebShopGoal goal = ReadWebShopGoal(
      "shoes with arch support, and rubber sole with color: black with white, and grey, and size: "
      "6: wide, and price lower than 40.00 dollars");
  EXPECT_EQ(goal.text, "shoes with arch support, and rubber sole");
  EXPECT_THAT(Choices(goal), ElementsAre("color=black with white, and grey", "size=6: wide"));
  const WebShopGoal list = ReadWebShopGoal("a kit with one, two and three things more: all of it");
  EXPECT_THAT(list.choices, IsEmpty()) << "no option has such a name";
}

TEST(WebShopGoal, KeyWords) {
  EXPECT_THAT(
      WebShopKeyWords("I'm looking for a women's X-Large 4.5 oz. tee, tee/top & caf\xc3\xa9"),
      ElementsAre("women's", "x-large", "4.5", "oz", "tee", "tee/top", "caf\xc3\xa9"));
  EXPECT_THAT(WebShopKeyWords("find me the"), IsEmpty());
  EXPECT_THAT(WebShopWords("- The - end."), ElementsAre("the", "end"));
}

}  // namespace
}  // namespace agentr
