#include "tasks/action_text.h"

#include <gtest/gtest.h>

#include "tasks/task_kinds.h"

namespace agentr {
namespace {

struct Case {
  const char* response;
  const char* action;
};

TEST(ActionText, IsWithoutWhatModelsAddAroundIt) {
  for (
      const Case& c : std::initializer_list<Case>{
          {"Thought: I need a log.\nAction: get 1 oak log", "get 1 oak log"},
          {"Action 1: look\nAction 2: go north", "go north"},
          {"I go.\n\ngo north\n", "go north"},
          {"Action:\n```\nget 1 oak log\n```", "get 1 oak log"},
          {"Action:\n```text\nget 1 oak log\n```\nThen I craft.", "get 1 oak log"},
          {"Action: ```get 1 oak log```", "get 1 oak log"},
          {"I take it:\n```\nget 1 oak log\n```", "get 1 oak log"},
          {"Action: `get 1 oak log`", "get 1 oak log"},
          {"**Action:** get 1 oak log", "get 1 oak log"},
          {"**Action**: **get 1 oak log**", "get 1 oak log"},
          {"**Action: get 1 oak log**", "get 1 oak log"},
          {"Action: 2. `go north`", "go north"},
          {"Action: go north\nObservation: You are in a hall.", "go north"},
          {"Action: go north\nObservation: A hall.\nThought: Good.\nAction: take key", "go north"},
          {"Action: go north\n**Observation:** A hall.", "go north"},
          {"Observation: none so far\nAction: go north", "go north"},
          {"The last Action failed.\nObservation: it is shut.\nAction: open door", "open door"},
          {"Action: say Observation: all well", "say Observation: all well"},
          {R"(<tool_call>
{"name": "act", "arguments": {"action": "go north"}}
</tool_call>)",
           "go north"},
          {R"(Action: <tool_call>{"name": "act", "arguments": {"action": "go north"}}</tool_call>)",
           "go north"},
          {R"({"function": {"name": "act", "arguments": "{\"command\": \"go north\"}"}})",
           "go north"},
          {R"(Action: {"action": "go north", "why": "to see"})", "go north"},
          {R"(Action: {"a": 1})", R"({"a": 1})"},
          {"<think>Action: go south</think>\nAction: go north", "go north"},
          {"Perhaps Action: go south\n</think>\n\ngo north", "go north"},
          {"<think>I could go.\nAction: go south", ""},
          {"<think></think>", ""},
          {"", ""},
      }) {
    EXPECT_EQ(TextOfAction(c.response), c.action) << c.response;
  }
}

TEST(ActionText, AResponseMayBeOnlyThought) {
  for (const char* cut : {"<think>I could go.\nAction: go south", "<think>a</think>\n<think>b",
                          "Thought: I need a", "Thought: One.\nThen two", "**Thought:** so",
                          "<think>Action: x</think>\n\nThought: but", ""}) {
    EXPECT_TRUE(IsOnlyThought(cut)) << cut;
  }
  for (const char* whole :
       {"Thought: I go.\nAction: go nor", "Action: go", "go nor", "Thoughts are free\ngo north",
        "<think>a</think>\nAction: go", "Thought: x\n<tool_call>{\"action\": \"go\"}"}) {
    EXPECT_FALSE(IsOnlyThought(whole)) << whole;
  }
}

TEST(ActionText, TheRestStandsBehindTheThoughts) {
  EXPECT_EQ(WithoutThought("<think>a</think> b <think>c</think>d<think>e"), "d");
  EXPECT_EQ(WithoutThought("a</think>b"), "b");
  EXPECT_EQ(WithoutThought("no thought"), "no thought");
}

// Every kind of task takes the same action out of a dressed response as out of a plain one.
TEST(ActionText, HoldsForEveryKindOfTask) {
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
    const std::string plain = family->ParseAction("Action: " + std::string(action));
    ASSERT_NE(plain, "") << task;
    for (const auto& [before, after] :
         {std::pair("Action: `", "`"),
          {"Action:\n```\n", "\n```"},
          {"**Action:** **", "**"},
          {"<think>Action: no</think>\nAction: ", "\nObservation: done"},
          {"Action: {\"action\": \"", "\"}"}}) {
      EXPECT_EQ(family->ParseAction(before + std::string(action) + after), plain)
          << task << ": " << before;
    }
  }
}

}  // namespace
}  // namespace agentr
