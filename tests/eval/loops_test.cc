#include "eval/loops.h"

#include <gtest/gtest.h>

#include <string>

#include "common/random.h"

namespace agentr {
namespace {

std::vector<int64_t> Count(const std::string& letters, int longest = 6) {
  std::vector<std::string_view> actions;
  for (size_t i = 0; i < letters.size(); ++i) {
    actions.push_back(std::string_view(letters).substr(i, 1));
  }
  return CountRepeats(actions, longest);
}

// True if every letter equals the one `period` places before it.
bool Has(const std::string& text, size_t period) {
  for (size_t i = period; i < text.size(); ++i) {
    if (text[i] != text[i - period]) return false;
  }
  return true;
}

// The definition, for every stretch of the text.
std::vector<int64_t> NaiveCount(const std::string& text, size_t longest) {
  std::vector<int64_t> repeats(longest);
  for (size_t begin = 0; begin < text.size(); ++begin) {
    for (size_t end = begin + 2; end <= text.size(); ++end) {
      const std::string stretch = text.substr(begin, end - begin);
      size_t period = 1;
      while (!Has(stretch, period)) ++period;
      if (period > longest || stretch.size() < 2 * period) continue;
      if (begin > 0 && Has(text.substr(begin - 1, end - begin + 1), period)) continue;
      if (end < text.size() && Has(text.substr(begin, end - begin + 1), period)) continue;
      repeats[period - 1] += static_cast<int64_t>(stretch.size() / period) - 1;
    }
  }
  return repeats;
}

TEST(LoopsTest, ByHand) {
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(Count("", 3), (Counts{0, 0, 0}));
  EXPECT_EQ(Count("abc", 3), (Counts{0, 0, 0}));
  EXPECT_EQ(Count("aa", 3), (Counts{1, 0, 0}));
  EXPECT_EQ(Count("aaaa", 3), (Counts{3, 0, 0})) << "not a loop of two actions";
  EXPECT_EQ(Count("abab", 3), (Counts{0, 1, 0}));
  EXPECT_EQ(Count("ababa", 3), (Counts{0, 1, 0})) << "the third round is not complete";
  EXPECT_EQ(Count("ababab", 3), (Counts{0, 2, 0}));
  EXPECT_EQ(Count("xabcabcy", 3), (Counts{0, 0, 1}));
  EXPECT_EQ(Count("aabaab", 3), (Counts{2, 0, 1})) << "a loop inside of a loop";
  EXPECT_EQ(Count("abxab", 3), (Counts{0, 0, 0})) << "not directly one after the other";
  EXPECT_EQ(Count("abcdabcd", 3), (Counts{0, 0, 0})) << "longer than asked for";
  EXPECT_EQ(Count("aa", 0), Counts{});
}

TEST(LoopsTest, AsTheDefinitionCountsThem) {
  RandomStream stream(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const uint64_t letters = 1 + stream.Below(3);
    std::string text(stream.Below(25), ' ');
    for (char& c : text) c = static_cast<char>('a' + stream.Below(letters));
    EXPECT_EQ(Count(text, 6), NaiveCount(text, 6)) << text;
  }
}

}  // namespace
}  // namespace agentr
