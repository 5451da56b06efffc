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

// Of other models, servers and frameworks.
TEST(ActionText, IsWithoutWhatOtherModelsAddAroundIt) {
  for (const Case& c : std::initializer_list<Case>{
           {"Action: ```json\n{\"thought\": \"x\", \"action\": \"go north\"}\n```", "go north"},
           {"```json {\"action\": \"go north\"}```", "go north"},
           {"I leave.\n<action>go north</action>\nThat is best.", "go north"},
           {"<action>\ngo north\n</action>", "go north"},
           {"Action: <action>go north", "go north"},
           {"Thought: I leave.\nACTION: go north", "go north"},
           {"thought: I leave.\naction: go north", "go north"},
           {"### action 2: go north", "go north"},
           {"I take action: none is left\ngo north", "go north"},
           {"Thought：离开。\nAction： go north", "go north"},
           {"Action：go north\nObservation：A hall.", "go north"},
           {"action: go north\nOBSERVATION: A hall.\naction: take key", "go north"},
           {"Action: \"go north\"", "go north"},
           {"Action: “go north”", "go north"},
           {"Action: *go north*", "go north"},
           {"Action: say \"hello\"", "say \"hello\""},
           {"Action: \"a\" and \"b\"", "\"a\" and \"b\""},
           {"Action: don't", "don't"},
           {"Action: > go north", "go north"},
           {"- go north", "go north"},
           {"Action: go north<|im_end|>\n<|im_start|>user\nA hall.", "go north"},
           {"Action: go north</s>", "go north"},
           {"[TOOL_CALLS][{\"name\": \"act\", \"arguments\": {\"action\": \"go north\"}}]",
            "go north"},
           {"<|python_tag|>{\"name\": \"act\", \"parameters\": {\"action\": \"go north\"}}",
            "go north"},
           {"<function=act>{\"action\": \"go north\"}</function>", "go north"},
           {"<tool_call>\n<function=act>\n<parameter=why>\nto see\n</parameter>\n"
            "<parameter=action>\ngo north\n</parameter>\n</function>\n</tool_call>",
            "go north"},
           {"<invoke name=\"act\"><parameter name=\"command\">go north</parameter></invoke>",
            "go north"},
           {"{\"type\": \"tool_use\", \"input\": {\"action\": \"go north\"}}", "go north"},
       }) {
    EXPECT_EQ(TextOfAction(c.response), c.action) << c.response;
  }
}

TEST(ActionText, ThoughtsHaveManyMarks) {
  for (const auto& [open, close] :
       {std::pair("<think>", "</think>"),
        {"<thinking>", "</thinking>"},
        {"<thought>", "</thought>"},
        {"<reasoning>", "</reasoning>"},
        {"[THINK]", "[/THINK]"},
        {"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
        {"<|begin_of_thought|>", "<|end_of_thought|>"},
        {"<|START_THINKING|>", "<|END_THINKING|>"},
        {"<seed:think>", "</seed:think>"},
        {"◁think▷", "◁/think▷"}}) {
    const std::string thought = std::string(open) + "Perhaps\nAction: go south\n";
    EXPECT_EQ(TextOfAction(thought + close + "Action: go north"), "go north") << open;
    EXPECT_EQ(TextOfAction(thought), "") << open;
    EXPECT_TRUE(IsOnlyThought(thought)) << open;
    const std::string ended = thought + close;
    const auto marks = ThoughtMarksOf(ended + "Action: go north");
    ASSERT_TRUE(marks) << open;
    EXPECT_EQ(marks->open, open);
    EXPECT_TRUE(ended.ends_with(marks->close));
    EXPECT_FALSE(ThoughtMarksOf(thought)) << open;
  }
}

TEST(ActionText, ACallOfAToolHasOneForm) {
  const char* const kCall = R"({"name":"echo","arguments":{"n":3}})";
  for (const char* response : {
           R"(Action: {"name": "echo", "arguments": {"n": 3}})",
           "I call {it}.\nAction:\n```json\n{\"tool_name\": \"echo\",\n \"parameters\": {\"n\": "
           "3}}\n```",
           R"(<tool_call>{"name": "echo", "arguments": "{\"n\": 3}"}</tool_call>)",
           R"([{"type": "function", "function": {"name": "echo", "arguments": "{\"n\": 3}"}}])",
           R"(<think>{"name": "no"}</think>{"tool": "echo", "input": {"n": 3}})",
       }) {
    EXPECT_EQ(TextOfToolCall(response), kCall) << response;
  }
  EXPECT_EQ(TextOfToolCall(R"({"name": "list"})"), R"({"name":"list","arguments":{}})");
  EXPECT_EQ(TextOfToolCall("Action: list_tools"), "list_tools");
  EXPECT_EQ(TextOfToolCall("Action: {broken"), "{broken");
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

TEST(ThoughtOfTest, IsTheTextBeforeTheAction) {
  EXPECT_EQ(ThoughtOf("Thought: a b.\nAction: c"), "a b.");
  EXPECT_EQ(ThoughtOf("a b.\n\nAction: c\nThought: d"), "a b.");
  EXPECT_EQ(ThoughtOf("Action: c"), "");
  EXPECT_EQ(ThoughtOf("<think>\nAction: x\n</think>\n\nThought: a b.\nAction: c"), "a b.");
  EXPECT_EQ(ThoughtOf(""), "");
}

}  // namespace
}  // namespace agentr
