#include "common/gzip.h"

#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

constexpr size_t kMost = 1'000'000;

std::string SomeText() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919);
  return text;
}

TEST(Gzip, ReadsBackWhatItWrites) {
  const std::string text = SomeText();
  for (const GzipLevel level : {GzipLevel::kUsual, GzipLevel::kSmallest}) {
    EXPECT_EQ(Gunzip(Gzip(text, level), kMost), text);
    EXPECT_EQ(Gunzip(Gzip("", level), kMost), "");
    EXPECT_LT(Gzip(std::string(100'000, 'a'), level).size(), 400);
    EXPECT_EQ(Gzip(text, level), Gzip(text, level)) << "no time, no name";
  }
}

TEST(Gzip, SeesWhatIsNoWholeStream) {
  const std::string whole = Gzip(SomeText(), GzipLevel::kUsual);
  for (const size_t bytes : {size_t{0}, size_t{5}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_FALSE(Gunzip(whole.substr(0, bytes), kMost)) << bytes;
  }
  EXPECT_FALSE(Gunzip(whole + "more", kMost));
  std::string changed = whole;
  changed[whole.size() / 2] ^= 1;
  EXPECT_FALSE(Gunzip(changed, kMost));
}

TEST(Gzip, RefusesMoreThanIsAllowed) {
  const std::string bomb = Gzip(std::string(kMost + 1, 'a'), GzipLevel::kUsual);
  EXPECT_FALSE(Gunzip(bomb, kMost));
  EXPECT_TRUE(Gunzip(bomb, kMost + 1));
}

}  // namespace
}  // namespace agentr
