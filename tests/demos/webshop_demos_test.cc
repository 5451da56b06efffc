#include "demos/webshop_demos.h"

#include <gmock/gmock.h>

#include <string>

namespace agentr {
namespace {

using ::testing::Gt;

TEST(WebShopDemosTest, EveryClickIsAPieceOfThePageAsItIsShown) {
  int clicks = 0;
  for (const DemoRow& row : WebShopDemos({}, 1, 0)) {
    const auto& messages = row["messages"];
    for (size_t i = 3; i < messages.size(); i += 2) {
      const std::string text = messages[i]["content"];
      const size_t at = text.find("click[");
      if (at == std::string::npos) continue;
      ++clicks;
      const std::string value = text.substr(at + 6, text.size() - at - 7);
      const std::string page = messages[i - 1]["content"];
      EXPECT_NE((page + " [SEP]").find("[SEP] " + value + " [SEP]"), std::string::npos)
          << value << "\n"
          << page;
    }
    EXPECT_TRUE(std::string(messages.back()["content"]).ends_with("click[Buy Now]"));
  }
  EXPECT_THAT(clicks, Gt(20));
}

TEST(WebShopDemosTest, TheSeedAndTheShopDecide) {
  const WebShopDemoOptions few = {.products = 100, .goals = 5};
  EXPECT_EQ(WebShopDemos(few, 1, 0), WebShopDemos(few, 1, 0));
  EXPECT_NE(WebShopDemos(few, 1, 0), WebShopDemos(few, 1, 1));
  EXPECT_NE(WebShopDemos(few, 1, 0), WebShopDemos(few, 2, 0));
}

}  // namespace
}  // namespace agentr
