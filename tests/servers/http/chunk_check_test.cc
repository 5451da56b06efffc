#include "servers/http/chunk_check.h"

#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

// How many bytes of `text` the body takes, in pieces of `piece`; -1 where it is broken, -2 where
// it goes on.
int Length(const std::string& text, size_t piece) {
  ChunkCheck check;
  size_t taken = 0;
  while (taken < text.size() && !check.ended() && !check.broken()) {
    taken += check.Take(std::string_view(text).substr(taken, piece));
  }
  return check.broken() ? -1 : check.ended() ? static_cast<int>(taken) : -2;
}

TEST(ChunkCheckTest, FindsTheEnd) {
  for (const size_t piece : {1, 2, 5, 100}) {
    EXPECT_EQ(Length("3\r\nabc\r\n0\r\n\r\nGET /", piece), 13);
    EXPECT_EQ(Length("00A;name=\"v\"\r\n0123456789\r\n0\r\n\r\n", piece), 31);
    EXPECT_EQ(Length("3\r\nabc\r\n0\r\n", piece), -2);
  }
}

TEST(ChunkCheckTest, RefusesOtherLengths) {
  for (const char* text : {"+3\r\nabc\r\n", "-1\r\n", "0x3\r\nabc", " 3\r\nabc", "\r\n",
                           "3 \r\nabc", "3\nabc", "3\r\nabcd", "3\r\nabc\n",
                           "fffffffffffffffff\r\n", ";x\r\n", "0\r\nTrailer: x\r\n\r\n", "3\rx"}) {
    EXPECT_EQ(Length(text, 100), -1) << text;
  }
  EXPECT_EQ(Length("3;" + std::string(2000, 'x'), 100), -1);
}

}  // namespace
}  // namespace agentr
