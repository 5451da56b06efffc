#include "demos/chat_demos.h"

#include <gmock/gmock.h>

#include <string>

namespace agentr {
namespace {

using ::testing::Gt;

TEST(ChatDemosTest, AnswersSayAgainWhatTheQuestionShows) {
  int recipes = 0, repetitions = 0;
  for (const DemoRow& row : ChatDemos(1, 0, 200)) {
    const std::string question = row["messages"][0]["content"];
    std::string answer = row["messages"][1]["content"];
    if (answer.starts_with("Again: ")) {
      ++repetitions;
      EXPECT_TRUE(question.ends_with(answer.substr(7))) << question;
      continue;
    }
    ++recipes;
    // "item using parts makes 4." is the line "craft 4 item using parts".
    const size_t makes = answer.find(" makes ");
    const std::string line =
        "craft " + answer.substr(makes + 7, 1) + " " + answer.substr(0, makes) + "\n";
    EXPECT_NE(question.find(line), std::string::npos) << question << "\n" << answer;
  }
  EXPECT_THAT(recipes, Gt(80));
  EXPECT_THAT(repetitions, Gt(50));
}

TEST(ChatDemosTest, TheSeedAndThePartDecide) {
  EXPECT_EQ(ChatDemos(1, 0, 10), ChatDemos(1, 0, 10));
  EXPECT_NE(ChatDemos(1, 0, 10), ChatDemos(1, 1, 10));
  EXPECT_NE(ChatDemos(1, 0, 10), ChatDemos(2, 0, 10));
}

}  // namespace
}  // namespace agentr
