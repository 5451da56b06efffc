// What holds for the rows of any tree: whole searches in the toy world, revised in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "revision/first_error.h"
#include "revision/row_format.h"
#include "revision/tree_verifier.h"
#include "tests/mcts/toy_search.h"
#include "tests/revision/hand_tree.h"
#include "tests/revision/pair_encoder.h"

namespace agentr {
namespace {

using nlohmann::json;

const RevisionTurn kAnyTurn = {"My fault.", "wait", "ok."};

// The text of a segment; its ids stand for bytes (WithTokens).
std::string Decoded(const json& segment) {
  if (segment.contains("text")) return segment["text"];
  std::string text;
  for (const int id : segment["ids"]) text += static_cast<char>(id);
  return text;
}

// The messages of a row of tokens, as the messages format has them: texts, and weights.
json MessagesOf(const json& tokens, const json& roles) {
  json messages = json::array();
  std::vector<int32_t> own;
  bool trained = false;
  for (size_t i = 0; i < tokens["ids"].size(); ++i) {
    const int32_t id = tokens["ids"][i];
    if (id >= PairEncoder::kHeader && id < PairEncoder::kEnd) {
      EXPECT_EQ(tokens["loss"][i], 0) << "what opens a turn is not the agent's";
      own.clear();
      continue;
    }
    trained = tokens["loss"][i] == 1;
    if (!own.empty()) {
      EXPECT_EQ(tokens["loss"][i - 1] == 1, trained) << "half a message";
    }
    own.push_back(id);
    if (id != PairEncoder::kEnd) continue;
    const json& role = roles.at(messages.size())["role"];
    messages.push_back({{"role", role}, {"content", PairEncoder().Decode(own)}});
    if (role == "assistant") messages.back()["weight"] = trained ? 1 : 0;
  }
  return messages;
}

class RowProperties : public ::testing::TestWithParam<uint64_t> {
 protected:
  RowProperties() : tree_(WithTokens(Searched())) {}

  static Tree Searched() {
    ToySearch search(/*forks=*/true);
    search.options.seed = GetParam();
    search.options.iterations = 12;
    return search.MustRun();
  }

  json Written(const std::string& format, const PathPair& pair, const FirstError& error,
               const Trajectory& trajectory, const ChatEncoder* encoder = nullptr) const {
    const RowSource source{tree_, "tree.json", "toy", 1, "m", GetParam(), {}, "tree", "all"};
    const Row row{source, pair, error, {}, trajectory, "hash"};
    return json::parse(MakeRowFormat(format, encoder)->Line(row));
  }

  void CheckRow(const PathPair& pair, const FirstError& error) const;

  const Tree tree_;
};

void RowProperties::CheckRow(const PathPair& pair, const FirstError& error) const {
  const Trajectory trajectory = Splice(tree_, pair, error.bad_steps, kAnyTurn);
  const json messages = Written("messages", pair, error, trajectory)["messages"];
  const json provenance = Written("provenance", pair, error, trajectory);
  const std::vector<Message> prefix = tree_.Conversation(pair.ancestor);
  const size_t bad_begin = prefix.size();
  const size_t bad_end = bad_begin + 2 * static_cast<size_t>(error.bad_steps);
  const std::vector<Message> bad = tree_.Conversation(pair.bad.leaf);
  const std::vector<Message> good = tree_.Conversation(pair.good.leaf);
  ASSERT_EQ(messages.size(), bad_end + 2 + good.size() - bad_begin);
  for (size_t i = 0; i < messages.size(); ++i) {
    SCOPED_TRACE(i);
    // It starts as the tree does, goes on with bad steps, owns the mistake, and ends well.
    if (i == bad_end) {
      EXPECT_EQ(messages[i]["content"], "Thought: My fault.\nAction: wait");
    } else if (i == bad_end + 1) {
      EXPECT_EQ(messages[i]["content"], "ok.");
    } else {
      const Message& from = i < bad_end ? bad[i] : good[i - (bad_end + 2) + bad_begin];
      EXPECT_EQ(messages[i]["role"], from.role);
      EXPECT_EQ(messages[i]["content"], from.content);
    }
    const bool in_bad = i >= bad_begin && i < bad_end;
    EXPECT_EQ(messages[i].value("weight", 0) == 1, messages[i]["role"] == "assistant" && !in_bad);
  }
  // The splice point is the recorded one.
  EXPECT_EQ(provenance["nodes"]["ancestor"], pair.ancestor);
  EXPECT_EQ(tree_.node(provenance["nodes"]["first_error"]).depth,
            tree_.node(pair.ancestor).depth + error.bad_steps);
  const json segments = Written("tokens", pair, error, trajectory)["segments"];
  ASSERT_EQ(segments.size(), messages.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(Decoded(segments[i]), messages[i]["content"].get<std::string>());
    EXPECT_EQ(segments[i]["loss"], messages[i].value("weight", 0) == 1);
  }
  const PairEncoder encoder;
  EXPECT_EQ(MessagesOf(Written("tokens", pair, error, trajectory, &encoder), messages), messages);
}

TEST_P(RowProperties, HoldForEveryPair) {
  for (const Pairing pairing : {Pairing::kSiblings, Pairing::kAll}) {
    TreeVerifier verifier(tree_, {});
    const std::vector<PathPair> pairs = PairPaths(tree_, LeafPaths(tree_), {}, pairing);
    for (const PathPair& pair : LimitPairs(tree_, pairs, 30, RandomStream(GetParam()))) {
      CheckRow(pair, FindFirstError(tree_, pair, &verifier, 1).value());
      if (HasFailure()) return;  // the others would say the same
    }
  }
}

// By brute force over all pairs of leaves.
TEST_P(RowProperties, PairsAreTheRightOnes) {
  const std::vector<LeafPath> paths = LeafPaths(tree_);
  const QualityThresholds choice;
  std::vector<PathPair> all;
  std::vector<PathPair> siblings;
  const auto depth = [&](const PathPair& pair) { return tree_.node(pair.ancestor).depth; };
  for (const LeafPath& bad : paths) {
    std::vector<PathPair> of_bad;
    for (const LeafPath& good : paths) {
      if (good.quality < 0.5 || good.quality - bad.quality <= 0.2 + 1e-9) continue;
      const std::vector<int> a = tree_.Path(good.leaf);
      const std::vector<int> b = tree_.Path(bad.leaf);
      size_t shared = 0;
      while (a[shared] == b[shared]) ++shared;
      of_bad.push_back({good, bad, a[shared - 1]});
    }
    all.insert(all.end(), of_bad.begin(), of_bad.end());
    for (const PathPair& pair : of_bad) {
      if (std::ranges::all_of(of_bad, [&](const PathPair& p) { return depth(p) <= depth(pair); })) {
        siblings.push_back(pair);
      }
    }
  }
  EXPECT_EQ(PairPaths(tree_, paths, choice, Pairing::kAll), all);
  EXPECT_EQ(PairPaths(tree_, paths, choice, Pairing::kSiblings), siblings);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RowProperties, ::testing::Range<uint64_t>(0, 30));

// The trees are worth the checks.
TEST(RowPropertiesTest, TheTreesHavePairs) {
  size_t pairs = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    ToySearch search(/*forks=*/true);
    search.options.seed = seed;
    const Tree tree = search.MustRun();
    pairs += PairPaths(tree, LeafPaths(tree), {}, Pairing::kAll).size();
  }
  EXPECT_GT(pairs, 200U);
}

}  // namespace
}  // namespace agentr
