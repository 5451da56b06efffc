#include "rows/row_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "mcts/tree_file.h"
#include "rows/provenance.h"
#include "rows/row_reader.h"
#include "tests/common/fatal_error.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;

std::vector<std::string> Keys(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

class RowFormatTest : public ::testing::Test {
 protected:
  static ordered_json Parsed(const std::string& line) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    return ordered_json::parse(line);
  }
  ordered_json RowOf(const std::string& format) { return Parsed(LineOf(format)); }
  // The pair of the tree, its bad path cut behind the first step.
  std::string LineOf(const std::string& format) {
    const PathPair pair = PairPaths(tree_, LeafPaths(tree_), {}, Pairing::kAll).front();
    return Written(format, pair, {1, true, {{pair.bad.leaf, {Judgement::kBad, "No use.", true}}}});
  }

  ordered_json GoodRowOf(const std::string& format) {
    return Parsed(Written(format, GoodAlone(LeafPaths(tree_), {}).front(), {}));
  }

  std::string Written(const std::string& format, const PathPair& pair, const FirstError& error) {
    const RowSource source{tree_, "folder/search_results_3.json", "toy", 3, "hand", 7, {}, "tree",
                           "all"};
    const RowDraft row = HandRow(source, pair, error, replay_);
    return MakeRowFormat(format)->Line(agentr::RowOf(row));
  }

  Tree tree_ = WithTokens(HandTree({{"p g", 1}, {"p a", 0}}));
  Replay replay_;
};

TEST_F(RowFormatTest, AgentRHasExactlyThePublishedFields) {
  const ordered_json row = RowOf("agent-r");
  EXPECT_THAT(Keys(row), ElementsAre("task_num", "revise_log", "high_log", "low_log",
                                     "task_description", "revise", "revise_feedback"));
  EXPECT_EQ(row["task_num"], 3);
  EXPECT_EQ(row["task_description"], "Goal 3.");
  EXPECT_EQ(row["revise"], true);
  EXPECT_EQ(row["revise_feedback"], ordered_json::array({{{"revision_feedback", "No use."},
                                                          {"action", "a"},
                                                          {"obs", "saw p a"},
                                                          {"judgement", "Bad"}}}));
  ASSERT_EQ(row["revise_log"].size(), 10U);
  EXPECT_EQ(row["revise_log"][0], (ordered_json{{"role", "user"}, {"content", "Play."}}));
  EXPECT_EQ(row["revise_log"][5], (ordered_json{{"role", "assistant"},
                                                {"content", "Thought: I go on.\nAction: a"},
                                                {"loss", false}}));
  EXPECT_EQ(row["revise_log"][7]["loss"], true);
  EXPECT_EQ(row["high_log"].size(), 7U);
  EXPECT_EQ(row["high_log"][6]["content"], "saw p g");
  EXPECT_EQ(row["low_log"][6]["content"], "saw p a");
}

TEST_F(RowFormatTest, AgentROfAGoodPathAlone) {
  const ordered_json row = GoodRowOf("agent-r");
  EXPECT_EQ(row["revise"], false);
  EXPECT_EQ(row["low_log"], ordered_json::array());
  EXPECT_EQ(row["revise_log"].size(), row["high_log"].size() - 1) << "without the last reply";
}

TEST_F(RowFormatTest, MessagesHaveWeightsOnTheAssistants) {
  const ordered_json row = RowOf("messages");
  EXPECT_THAT(Keys(row), ElementsAre("messages", "provenance"));
  EXPECT_EQ(row["messages"][5]["weight"], 0);
  EXPECT_EQ(row["messages"][7]["weight"], 1);
  EXPECT_FALSE(row["messages"][8].contains("weight"));
  for (const auto& message : row["messages"]) {
    ASSERT_EQ(message.contains("loss"), message.contains("weight"));
    if (message.contains("loss")) {
      EXPECT_EQ(message["loss"], message["weight"] == 1);
    }
  }
  EXPECT_EQ(row["messages"][1]["weight"], 0) << "the policy never said the instruction's Ok.";
  EXPECT_EQ(row["messages"].back()["role"], "assistant");
}

// The documented rules of OpenAI's fine-tuning format for a row, as docs/train_elsewhere.md makes
// it ready to upload; "" if it keeps them.
std::string BrokenRule(ordered_json row) {
  row.erase("provenance");
  if (row.size() != 1 || !row["messages"].is_array()) return "only messages";
  bool trains = false;
  std::string last;
  for (ordered_json& message : row["messages"]) {
    message.erase("loss");
    message.erase("reasoning_content");
    const std::string role = message.value("role", "");
    for (const std::string& key : Keys(message)) {
      if (key != "role" && key != "content" && key != "weight") return "the key " + key;
    }
    if (role != "system" && role != "user" && role != "assistant") return "the role " + role;
    if (role == "system" && !last.empty()) return "a text of the system comes first";
    if (role == "assistant" && last != "user") return "the assistant answers a user";
    if (role == "user" && last == "user") return "the user waits for an answer";
    if (!message["content"].is_string() || message["content"] == "") return "a text";
    if (message.contains("weight")) {
      const ordered_json& weight = message["weight"];
      if (role != "assistant") return "weight only on the assistant";
      if (!weight.is_number_integer() || (weight != 0 && weight != 1)) return "weight 0 or 1";
    }
    trains = trains || (role == "assistant" && message.value("weight", 1) == 1);
    last = role;
  }
  if (last != "assistant") return "the assistant has the last word";
  return trains ? "" : "at least one message of the assistant is trained";
}

TEST_F(RowFormatTest, MessagesAndLastTurnKeepTheRulesOfOpenAisFineTuning) {
  EXPECT_EQ(BrokenRule(RowOf("messages")), "");
  EXPECT_EQ(BrokenRule(GoodRowOf("messages")), "");
  std::istringstream lines(LineOf("last_turn"));
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    EXPECT_LT(line.size(), size_t{2} << 30);
    EXPECT_EQ(BrokenRule(ordered_json::parse(line)), "");
  }
  EXPECT_GT(rows, 0);
  // The check itself.
  ordered_json row = RowOf("messages");
  for (ordered_json& message : row["messages"]) {
    if (message.contains("weight")) message["weight"] = 0;
  }
  EXPECT_NE(BrokenRule(row), "");
  row = RowOf("messages");
  row["messages"][0]["weight"] = 1;
  EXPECT_NE(BrokenRule(row), "");
}

TEST_F(RowFormatTest, ShareGptIsThatOfAgentGym) {
  const ordered_json row = RowOf("sharegpt");
  EXPECT_THAT(Keys(row), ElementsAre("conversations", "item_id", "provenance"));
  EXPECT_EQ(row["item_id"], "toy_3");
  EXPECT_EQ(row["conversations"][0],
            (ordered_json{{"from", "human"}, {"loss", nullptr}, {"value", "Play."}}));
  EXPECT_EQ(row["conversations"][5]["from"], "gpt");
  EXPECT_EQ(row["conversations"][5]["loss"], false);
}

TEST_F(RowFormatTest, APreferenceIsWrittenWhereThereIsOne) {
  EXPECT_EQ(LineOf("preference"), "") << "no step of it was refused";
  NewRow row;
  row.provenance = std::make_shared<const ordered_json>(ordered_json{{"task", 3}});
  row.correction = RowPreference{
      {{"user", "Play."}}, {"assistant", "right", "a thought"}, {"assistant", "wrong"}};
  const ordered_json line = Parsed(MakeRowFormat("preference")->Line(row));
  EXPECT_EQ(line, ordered_json::parse(R"({"prompt": [{"role": "user", "content": "Play."}],
      "chosen": [{"role": "assistant", "content": "right", "reasoning_content": "a thought"}],
      "rejected": [{"role": "assistant", "content": "wrong"}], "provenance": {"task": 3}})"));
  EXPECT_THAT(FatalErrorOf([&] { ReadRow(line.dump()); }),
              ::testing::HasSubstr("agent_rl --algorithm dpo --pairs"));
}

// A trainer without marks of messages trains the same turns, each behind the same turns.
TEST_F(RowFormatTest, PromptCompletionHasALineForEachTrainedTurn) {
  const Row whole = ReadRow(RowOf("messages").dump());
  std::istringstream lines(LineOf("prompt_completion"));
  std::string line;
  for (size_t i = 0; i < whole.messages.size(); ++i) {
    if (!whole.trained[i]) continue;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(Keys(ordered_json::parse(line)), ElementsAre("prompt", "completion", "provenance"));
    const Row turn = ReadRow(line);
    EXPECT_EQ(turn.messages,
              std::vector<Message>(whole.messages.begin(),
                                   whole.messages.begin() + static_cast<int64_t>(i) + 1));
    std::vector<bool> last(i + 1, false);
    last[i] = true;
    EXPECT_EQ(turn.trained, last);
    EXPECT_EQ(*turn.provenance, *whole.provenance);
  }
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_THROW(ReadRow(R"({"prompt":"p","completion":"c"})"), FatalError);
}

TEST_F(RowFormatTest, LastTurnTrainsTheSameTurnsOneInEachLine) {
  const Row whole = ReadRow(RowOf("messages").dump());
  std::istringstream lines(LineOf("last_turn")), turns(LineOf("prompt_completion"));
  std::string line, turn;
  while (std::getline(turns, turn)) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(Keys(ordered_json::parse(line)), ElementsAre("messages", "provenance"));
    const Row row = ReadRow(line), expected = ReadRow(turn);
    EXPECT_EQ(row.messages, expected.messages);
    EXPECT_EQ(row.trained, expected.trained);
    EXPECT_EQ(*row.provenance, *whole.provenance);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(RowFormatTest, TokensAreThoseOfTheTree) {
  const ordered_json segments = RowOf("tokens")["segments"];
  EXPECT_EQ(segments[0], (ordered_json{{"role", "user"}, {"loss", false}, {"text", "Play."}}));
  EXPECT_THAT(Keys(segments[3]), ElementsAre("role", "loss", "ids", "logprobs"));
  EXPECT_EQ(segments[3]["ids"].size(), std::string("Thought: I go on.\nAction: p").size());
  EXPECT_EQ(segments[3]["logprobs"].size(), segments[3]["ids"].size());
  EXPECT_TRUE(segments[7].contains("text")) << "nobody sampled the revision turn";
}

// Of the model's own turns; nobody thought before the inserted one.
TEST_F(RowFormatTest, AThoughtApartIsAFieldOfItsMessageOrStandsInTheText) {
  auto whole = ordered_json::parse(WriteTree(tree_, TreeFormat::kCompact));
  for (auto& node : whole["nodes"]) {
    if (node.contains("response")) node["reasoning_content"] = "hm";
  }
  tree_ = ReadTree(whole.dump(), "tree");
  for (const auto& [format, list] :
       {std::pair("messages", "messages"), {"agent-r", "revise_log"}}) {
    const ordered_json messages = RowOf(format)[list];
    EXPECT_EQ(messages[5]["reasoning_content"], "hm") << format;
    EXPECT_EQ(messages[5]["content"], "Thought: I go on.\nAction: a");
    EXPECT_FALSE(messages[7].contains("reasoning_content"));
  }
  const std::string text = "<think>\nhm\n</think>\n\nThought: I go on.\nAction: a";
  EXPECT_EQ(RowOf("sharegpt")["conversations"][5]["value"], text);
  EXPECT_EQ(RowOf("tokens")["segments"][5]["text"], text);
  const Row read = ReadRow(RowOf("messages").dump());
  EXPECT_EQ(read.messages[5].reasoning, "hm");
  EXPECT_EQ(ReadRow(RowOf("agent-r").dump()).messages, read.messages);
  std::istringstream lines(LineOf("prompt_completion"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(ordered_json::parse(line)["prompt"][5]["reasoning_content"], "hm");
}

TEST_F(RowFormatTest, EveryFormatIsReadAsTheSameRow) {
  const Row expected = ReadRow(RowOf("messages").dump());
  EXPECT_EQ(expected.bad_path, BadPath::kNamed);
  EXPECT_EQ(expected.task, "3");
  for (const char* format : {"agent-r", "sharegpt", "tokens"}) {
    const Row row = ReadRow(RowOf(format).dump());
    EXPECT_EQ(row.trained, expected.trained) << format;
    EXPECT_EQ(row.bad_path, expected.bad_path) << format;
    EXPECT_EQ(row.task, expected.task) << format;
    if (row.format != DataFormat::kSegments) {
      EXPECT_EQ(row.messages, expected.messages) << format;
    }
  }
}

TEST_F(RowFormatTest, ProvenanceNamesWhereARowComesFrom) {
  replay_ = {ReplayOutcome::kDiverged, 0.75, 4, false, {}};
  const ordered_json provenance = RowOf("provenance");
  EXPECT_EQ(RowOf("messages")["provenance"], provenance);
  EXPECT_EQ(provenance["tree"], "folder/search_results_3.json");
  EXPECT_TRUE(provenance["values"].is_null()) << "no continuations were played";
  EXPECT_EQ(provenance["nodes"],
            (ordered_json{{"good", 2}, {"bad", 3}, {"ancestor", 1}, {"first_error", 3}}));
  EXPECT_EQ(provenance["rewards"], (ordered_json{{"good", 1.0}, {"bad", 0.0}, {"replay", 0.75}}));
  std::vector<std::string> names;
  for (const ProvenanceField& field : kProvenanceFields) names.emplace_back(field.name);
  EXPECT_EQ(Keys(provenance), names);
  EXPECT_EQ(provenance["version"], 2);
  EXPECT_EQ(provenance["last_observation"], "saw p g");
  EXPECT_EQ(provenance["revision_length"], (ordered_json{{"from_start", 2}, {"from_ancestor", 1}}));
  EXPECT_EQ(provenance["replay"], "diverged");
}

TEST_F(RowFormatTest, ProvenanceOfAGoodPathAlone) {
  const ordered_json provenance = GoodRowOf("provenance");
  EXPECT_EQ(provenance["nodes"]["bad"], nullptr);
  EXPECT_EQ(provenance["nodes"]["ancestor"], nullptr);
  EXPECT_EQ(provenance["rewards"]["replay"], nullptr);
}

TEST_F(RowFormatTest, UnknownFormatsAreRefused) { EXPECT_THROW(MakeRowFormat("xml"), FatalError); }

}  // namespace
}  // namespace agentr
