#include "common/json_depth.h"

#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonDepthTest, ALimitOnNesting) {
  EXPECT_FALSE(ParseJson(Nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(kDeepestJson + 1)).is_discarded());
  EXPECT_TRUE(IsTooDeep(std::string(30'000'000, '[')));
  EXPECT_FALSE(IsTooDeep("[" + std::string(2000, ' ') + R"({"a": "[[[\"[[", "b": []}, {}, {}])"));
  std::string wide = "[";
  for (int i = 0; i < 200; ++i) wide += "[],";
  EXPECT_FALSE(ParseJson(wide + "[]]").is_discarded());
  EXPECT_EQ(ParseJson(R"({"a": "\"[["})")["a"], "\"[[");
  EXPECT_TRUE(IsTooDeep("\"\\\\\"" + std::string(101, '{')));  // a string that ends in a backslash
}

}  // namespace
}  // namespace agentr
