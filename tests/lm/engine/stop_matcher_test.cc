#include "lm/engine/stop_matcher.h"

#include <gtest/gtest.h>

#include "common/random.h"

namespace agentr {
namespace {

TEST(StopMatcher, WithoutStopStringsEverythingPasses) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.Add("any text"), "any text");
  EXPECT_EQ(matcher.Finish(), "");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, HoldsBackWhatMayBecomeAStopString) {
  StopMatcher matcher({"\nObservation:"});
  EXPECT_EQ(matcher.Add("Action: look\n"), "Action: look");
  EXPECT_EQ(matcher.Add("Obs"), "");
  EXPECT_EQ(matcher.Add("olete\nObservation"), "\nObsolete");
  EXPECT_EQ(matcher.Add(": a room"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Add("more"), "");
  EXPECT_EQ(matcher.Finish(), "");
}

TEST(StopMatcher, FinishGivesWhatWasHeld) {
  StopMatcher matcher({"end."});
  EXPECT_EQ(matcher.Add("the end"), "the ");
  EXPECT_EQ(matcher.Finish(), "end");
  EXPECT_FALSE(matcher.stopped());
}

// The text before the stop string that is complete first, by trying all ends.
std::string Expected(const std::string& text, const std::vector<std::string>& stop, bool& stopped) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& one : stop) {
      if (text.substr(0, end).ends_with(one)) longest = std::max(longest, one.size());
    }
    stopped = longest > 0;
    if (stopped) return text.substr(0, end - longest);
  }
  return text;
}

TEST(StopMatcher, CutsDoNotMatter) {
  RandomStream random(1);
  const auto letters = [&](uint64_t length) {
    std::string text;
    for (uint64_t i = 0; i < length; ++i) text += static_cast<char>('a' + random.Below(3));
    return text;
  };
  int stops = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> stop(random.Below(4));
    for (std::string& one : stop) one = letters(1 + random.Below(6));
    const std::string text = letters(random.Below(30));
    bool stopped = false;
    const std::string expected = Expected(text, stop, stopped);
    StopMatcher matcher(stop);
    std::string passed;
    for (size_t at = 0; at < text.size();) {
      const size_t length = 1 + random.Below(5);
      passed += matcher.Add(std::string_view(text).substr(at, length));
      ASSERT_TRUE(expected.starts_with(passed)) << text;
      at += length;
    }
    passed += matcher.Finish();
    ASSERT_EQ(passed, expected) << text;
    ASSERT_EQ(matcher.stopped(), stopped) << text;
    stops += stopped;
  }
  EXPECT_GT(stops, 500);
  EXPECT_LT(stops, 4500);
}

}  // namespace
}  // namespace agentr
