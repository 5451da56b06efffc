#include "revision/find/judgement_prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(JudgementPromptTest, AsksInTheWordingOfTheFamily) {
  const auto golden = nlohmann::json::parse(
      ReadFile(std::string(AGENTR_SOURCE_DIR) + "/tests/golden/verifier_prompts.json"));
  int cases = 0;
  for (const auto& episode : golden["cases"]) {
    Tree tree({}, {}, episode["task"]);
    for (const auto& turn : episode["turns"]) {
      Node node;
      node.action = turn[0];
      node.observation = turn[1];
      tree.Add(tree.size() - 1, node);
    }
    std::string expected;
    for (const std::string line : episode["question"]) {
      expected += (expected.empty() ? "" : "\n") + line;
    }
    const std::string family = episode["family"];
    EXPECT_THAT(JudgementPrompt::Of(family).Query(tree, tree.size() - 1),
                ElementsAre(Message{"user", expected}));
    ++cases;
  }
  EXPECT_EQ(cases, 9);
}

TEST(JudgementPromptTest, TheOldestTurnsOfTheLogCanBeLeftOut) {
  const Tree tree = HandTree({{"a b c", 0}});
  const JudgementPrompt prompt("[user]\n{log}\n{action}\n{observation}");
  EXPECT_EQ(prompt.Query(tree, 3)[0].content,
            "Action: a\nObservation: saw a\nAction: b\nObservation: saw a b\nc\nsaw a b c");
  EXPECT_EQ(prompt.Query(tree, 3, 1)[0].content, "Action: b\nObservation: saw a b\nc\nsaw a b c");
  EXPECT_EQ(prompt.Query(tree, 3, 2)[0].content, "(nothing)\nc\nsaw a b c");
}

TEST(JudgementPromptTest, OtherBracesStay) {
  const Tree tree = HandTree({{"a", 0}});
  const JudgementPrompt prompt("[system]\n{x} {\n[user]\n{{action}} {observation} {");
  const std::vector<Message> messages = prompt.Query(tree, 1);
  EXPECT_EQ(messages[0].content, "{x} {");
  EXPECT_EQ(messages[1].content, "{a} saw a {");
}

TEST(JudgementPromptTest, APromptMustShowTheStep) {
  EXPECT_THROW(JudgementPrompt("[user]\nIs {action} right?"), FatalError);
  EXPECT_THROW(JudgementPrompt::Of("chess"), FatalError);
}

TEST(ParseJudgementTest, TakesTheWordBehindTheLastLabel) {
  const auto parsed = [](const std::string& answer) {
    const StepJudgement judged = ParseJudgement(answer);
    EXPECT_EQ(judged.reasons, answer);
    return std::string(Name(judged.judgement)) + (judged.parsed ? "" : " unparsed");
  };
  EXPECT_EQ(parsed("It helps.\nJudgement: Good"), "Good");
  EXPECT_EQ(parsed("Judgement: Good at first.\nBut no.\nJudgement: Bad\n"), "Bad");
  EXPECT_EQ(parsed("Hm.\n**Judgement:** bad."), "Bad");
  EXPECT_EQ(parsed("JUDGEMENT: uncertain\n\n"), "Uncertain");
  EXPECT_EQ(parsed(""), "Uncertain unparsed");
  EXPECT_EQ(parsed("This is a bad step."), "Uncertain unparsed");
  EXPECT_EQ(parsed("Judgement: Good|Bad|Uncertain"), "Uncertain unparsed");
  EXPECT_EQ(parsed("Judgement: not bad"), "Uncertain unparsed");
  EXPECT_EQ(parsed("Judgement: Badly"), "Uncertain unparsed");
  EXPECT_EQ(parsed("Judgement:"), "Uncertain unparsed");
}

}  // namespace
}  // namespace agentr
