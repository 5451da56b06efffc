#include "rollout/cut_turns.h"

#include <gmock/gmock.h>

#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Completion Ended(const std::string& text, const std::string& reason) {
  Completion completion;
  completion.text = text;
  completion.finish_reason = reason;
  return completion;
}

// For every kind of task: a limit cuts a turn only where no action stands before it.
TEST(CutTurns, AreThoseOfALimitWithoutAnAction) {
  for (const auto& [task, action] : {std::pair("textcraft", "get 1 oak log"),
                                     {"webshop", "search[red shoes]"},
                                     {"webshop_archer", "click[buy now]"},
                                     {"sciworld", "open door to hallway"},
                                     {"babyai", "go to red ball 1"},
                                     {"twenty_questions", "Is it alive?"},
                                     {"guess_my_city", "Is it in Asia?"},
                                     {"detective", "go north"},
                                     {"wordle", "c r a n e"},
                                     {"maze", "move up"}}) {
    const auto family = MakeTaskFamily(task);
    const std::string acts = "<think>Hm.</think>\nThought: now.\nAction: " + std::string(action);
    for (const char* limit :
         {"length", "max_tokens", "MAX_TOKENS", "model_length", "content_filter", "SAFETY"}) {
      EXPECT_FALSE(IsCutTurn(Ended(acts, limit), *family)) << task;
      for (const char* cut : {"", "<think>I could take", "Thought: I could take", "<think>",
                              "<think>Action: go</think>\n"}) {
        EXPECT_TRUE(IsCutTurn(Ended(cut, limit), *family)) << task << cut;
        EXPECT_FALSE(IsCutTurn(Ended(cut, "stop"), *family)) << task << cut;
        EXPECT_FALSE(IsCutTurn(Ended(cut, ""), *family)) << task << cut;
      }
    }
  }
}

TEST(CutTurns, WarnOnceAndCount) {
  CutTurns cut;
  EXPECT_EQ(cut.warning(), "");
  cut.Add(Ended(std::string(300, 'x') + "é I should\a", "length"));
  const std::string first = cut.warning();
  EXPECT_THAT(first, AllOf(HasSubstr("--max_new_tokens"), HasSubstr("\"…xxx"),
                           HasSubstr("é I should\\x07\"")));
  cut.Add(Ended("another", "length"));
  EXPECT_EQ(cut.warning(), first);
  EXPECT_EQ(cut.count(), 2);
  CutTurns filtered;
  filtered.Add(Ended("Thought: I", "content_filter"));
  EXPECT_THAT(filtered.warning(), AllOf(HasSubstr("the server's filter (content_filter)"),
                                        Not(HasSubstr("--max_new_tokens"))));
}

}  // namespace
}  // namespace agentr
