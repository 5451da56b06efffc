#include "games/webshop/token_set_ratio.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace agentr {
namespace {

using nlohmann::json;

TEST(TokenSetRatio, ScoresAsThefuzz) {
  const json golden =
      json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/token_set_ratio.json"));
  const json& rows = golden.at("first, second, score");
  EXPECT_GE(rows.size(), 600);
  for (const json& row : rows) {
    EXPECT_EQ(TokenSetRatio(row.at(0).get<std::string>(), row.at(1).get<std::string>()),
              row.at(2).get<int>())
        << row;
  }
}

// By hand: "abcdefgh" and "abcd" share 4 of 12 characters, 2 * 4 / 12 = 66.7 %.
TEST(TokenSetRatio, IsTheShareOfCommonCharacters) {
  EXPECT_EQ(TokenSetRatio("abcdefgh", "abcd"), 67);
}

// Not what any text of Python holds; it separates words.
TEST(TokenSetRatio, TakesBrokenUtf8) {
  EXPECT_EQ(TokenSetRatio("red\xff"
                          "blue",
                          "blue red"),
            100);
}

}  // namespace
}  // namespace agentr
