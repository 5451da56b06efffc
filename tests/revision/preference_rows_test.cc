#include "revision/preference_rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/mcts/toy_search.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

Preference OnlyPair(const Tree& tree) {
  PreferenceCounts counts;
  const auto pairs =
      FindPreferences(tree, StateMap(tree, ToyFamily()), ToyFamily(), {.margin = 0.9}, counts);
  return pairs.at(0);
}

// The columns of TRL's conversational preference format, and where they come from.
TEST(PreferenceLine, HasPromptChosenAndRejected) {
  const Tree tree = HandTree({{"a x", 1}, {"a y", 0}});
  const std::string line = PreferenceLine(tree, OnlyPair(tree), "search_results_3.json", 3);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto row = nlohmann::json::parse(line);
  EXPECT_EQ(row["prompt"], nlohmann::json::parse(R"([
      {"role": "user", "content": "Play."}, {"role": "assistant", "content": "Ok."},
      {"role": "user", "content": "Goal 3."},
      {"role": "assistant", "content": "Thought: I go on.\nAction: a"},
      {"role": "user", "content": "saw a"}])"));
  EXPECT_EQ(row["chosen"],
            nlohmann::json::parse(
                R"([{"role": "assistant", "content": "Thought: I go on.\nAction: x"}])"));
  EXPECT_EQ(row["rejected"],
            nlohmann::json::parse(
                R"([{"role": "assistant", "content": "Thought: I go on.\nAction: y"}])"));
  EXPECT_EQ(row["provenance"]["values"], (nlohmann::json{{"chosen", 1.0}, {"rejected", 0.0}}));
  EXPECT_EQ(row["provenance"]["task"], 3);
  EXPECT_EQ(row["provenance"]["replies"]["rejected"], "saw a y");
}

// What the model did not see any more is not in the prompt.
TEST(PreferenceLine, LeavesOutDroppedTurns) {
  Tree tree({"toy", 3, "hand", "", "{}"}, {{"user", "Play."}, {"assistant", "Ok."}}, "Goal 3.");
  Node turn = Turn("a", "saw a");
  turn.response = "Action: a";
  const int first = tree.Add(0, turn);
  for (const auto& [action, reward] : {std::pair("x", 1.0), std::pair("y", 0.0)}) {
    Node node = Turn(action, "end", reward, End::kDone);
    node.response = std::string("Action: ") + action;
    node.dropped_turns = 1;
    tree.BackUp(tree.Add(first, node));
  }
  const auto row = nlohmann::json::parse(PreferenceLine(tree, OnlyPair(tree), "f", 3));
  EXPECT_EQ(row["prompt"].size(), 3U);
  EXPECT_EQ(row["prompt"][2]["content"], tree.Conversation(first, 1).back().content);
  EXPECT_EQ(row["provenance"]["dropped_turns"], 1);
}

}  // namespace
}  // namespace agentr
