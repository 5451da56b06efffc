// What holds for the rows of any tree: whole searches in the toy world, revised in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "revision/find/mistakes.h"
#include "revision/make/pruning.h"
#include "revision/make/replay.h"
#include "rows/row_format.h"
#include "tests/mcts/toy_search.h"
#include "tests/revision/hand_tree.h"
#include "tests/revision/pair_encoder.h"

namespace agentr {
namespace {

using nlohmann::json;

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
    if (role != "assistant") continue;
    messages.back()["weight"] = trained ? 1 : 0;
    messages.back()["loss"] = trained;
  }
  return messages;
}

constexpr double kMinSuccess = 0.125;  // few episodes of these searches succeed

class RowProperties : public ::testing::TestWithParam<uint64_t> {
 protected:
  RowProperties() : tree_(WithTokens(Searched())) {
    for (int node = 0; node < tree_.size(); ++node) histories_.push_back(MakeHistory(node));
  }

  static Tree Searched() {
    ToySearch search(/*forks=*/true);
    search.options.seed = GetParam();
    search.options.iterations = 12;
    return search.MustRun();
  }

  json Written(const std::string& format, const Draft& draft,
               const ChatEncoder* encoder = nullptr) const {
    const RowSource source{tree_, "tree.json", "toy", 1, "m", GetParam(), {}, "tree", "all"};
    const RowDraft row = HandRow(source, draft.pair, draft.error);
    return json::parse(MakeRowFormat(format, encoder)->Line(RowOf(row)));
  }

  // The actions that changed something on the way to `node`: what a state is in the toy world.
  const std::string& HistoryOf(int node) const { return histories_[static_cast<size_t>(node)]; }

  std::string MakeHistory(int node) const {
    std::string history;
    for (const int at : tree_.Path(node)) {
      const std::string& action = tree_.node(at).action;
      if (at != 0 && ToyEnvironment::Changes(action)) history += " " + action;
    }
    return history;
  }

  std::vector<Mistake> Mistakes(Pairing pairing) const {
    MistakeOptions options;
    options.pairing = pairing;
    options.min_evidence = 1;
    options.min_success = kMinSuccess;
    return FindMistakes(tree_, states_, family_, options);
  }

  void CheckRow(const Draft& draft) const;

  const ToyFamily family_;
  const Tree tree_;
  const StateMap states_{tree_, family_};
  std::vector<std::string> histories_;  // by node
};

void RowProperties::CheckRow(const Draft& draft) const {
  const json messages = Written("messages", draft)["messages"];
  const json provenance = Written("provenance", draft);
  const size_t bad_begin = tree_.Conversation(draft.pair.ancestor).size();
  const size_t bad_end = bad_begin + 2 * static_cast<size_t>(draft.error.bad_steps);
  const std::vector<Message> bad = tree_.Conversation(draft.pair.bad.leaf);
  ASSERT_EQ(bad.size(), bad_end);
  ASSERT_GT(messages.size(), bad_end + 2);
  EXPECT_EQ(messages.back()["role"], "assistant");
  EXPECT_EQ(messages[bad_end]["content"], "Thought: Oh.\nAction: wait");
  for (size_t i = 0; i < messages.size(); ++i) {
    SCOPED_TRACE(i);
    // It starts as the bad path does, and only what follows is trained, refused actions excepted.
    if (i < bad_end) {
      EXPECT_EQ(messages[i]["content"], bad[i].content);
    }
    const bool assistant = messages[i]["role"] == "assistant";
    const std::string content = messages[i]["content"];
    const bool refused = content.find("Action: stuck") != std::string::npos;
    EXPECT_EQ(messages[i].value("weight", 0) == 1, assistant && i >= bad_end && !refused);
    EXPECT_EQ(messages[i].value("loss", false), messages[i].value("weight", 0) == 1);
  }
  EXPECT_EQ(provenance["nodes"]["first_error"], draft.error.steps.back().node);
  // Every format has the same mask.
  const json agent_r = Written("agent-r", draft)["revise_log"];
  const json sharegpt = Written("sharegpt", draft)["conversations"];
  const json segments = Written("tokens", draft)["segments"];
  ASSERT_EQ(agent_r.size(), messages.size());
  ASSERT_EQ(sharegpt.size(), messages.size());
  ASSERT_EQ(segments.size(), messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool trained = messages[i].value("loss", false);
    EXPECT_EQ(agent_r[i].value("loss", false), trained);
    EXPECT_EQ(sharegpt[i]["loss"] == true, trained);
    EXPECT_EQ(segments[i]["loss"], trained);
    EXPECT_EQ(Decoded(segments[i]), messages[i]["content"].get<std::string>());
  }
  const PairEncoder encoder;
  EXPECT_EQ(MessagesOf(Written("tokens", draft, &encoder), messages), messages);
}

TEST_P(RowProperties, HoldForEveryMistake) {
  for (const Pairing pairing : {Pairing::kSiblings, Pairing::kAll}) {
    for (const Notice notice : {Notice::kFirst, Notice::kLate}) {
      MistakeOptions options;
      options.notice = notice;
      constexpr size_t kMost = 25;
      for (const Mistake& mistake : RandomStream(GetParam()).Sample(Mistakes(pairing), kMost)) {
        CheckRow(DraftOf(tree_, states_, mistake, mistake.goods.front(), options,
                         RandomStream(GetParam())));
        if (HasFailure()) return;  // the others would say the same
      }
    }
  }
}

TEST_P(RowProperties, NodesShareAStateWhereTheSameActionsChangedSomething) {
  const std::vector<LeafPath> leaves = LeafPaths(tree_);
  for (int a = 0; a < tree_.size(); ++a) {
    for (int b = 0; b < a; ++b) {
      ASSERT_EQ(states_.Of(a) == states_.Of(b), HistoryOf(a) == HistoryOf(b)) << a << " " << b;
    }
    double best = -1;
    for (const LeafPath& leaf : leaves) {
      const std::string behind = HistoryOf(leaf.leaf) + " ";
      if (behind.starts_with(HistoryOf(a) + " ")) best = std::max(best, leaf.value);
    }
    ASSERT_EQ(states_.At(a).best, best) << a;
  }
}

// By brute force, from the histories alone.
TEST_P(RowProperties, MistakesAreTheRightOnes) {
  const std::vector<LeafPath> leaves = LeafPaths(tree_);
  std::set<std::string> expected;
  for (int node = 1; node < tree_.size(); ++node) {
    const Node& step = tree_.node(node);
    const std::string before = HistoryOf(step.parent);
    double best = -1;
    double best_good = -1;
    for (const LeafPath& leaf : leaves) {
      const std::string history = HistoryOf(leaf.leaf) + " ";
      if (history.starts_with(HistoryOf(node) + " ")) best = std::max(best, leaf.value);
      if (history.starts_with(before + " ") && history != before + " ") {
        best_good = std::max(best_good, leaf.value);
      }
    }
    if (best_good < 0.5 - 1e-9) continue;
    if (step.action.starts_with("stuck")) expected.insert(before + " |" + step.action);
    if (!ToyEnvironment::Changes(step.action) || step.children.empty()) continue;
    const auto wanted = [&](double good) { return good - 0.2 - 1e-9; };
    if (std::max(best, 0.0) >= wanted(best_good)) continue;
    int shortest = 1000;
    for (const LeafPath& leaf : leaves) {
      const std::string history = HistoryOf(leaf.leaf) + " ";
      const bool good = history.starts_with(before + " ") && leaf.value >= 0.5 - 1e-9 &&
                        wanted(leaf.value) > std::max(best, 0.0);
      const int length = states_.At(leaf.leaf).depth - states_.At(step.parent).depth;
      if (good && length > 0) shortest = std::min(shortest, length);
    }
    int ends = 0;
    int elsewhere = 0;
    int as_good = 0;
    for (const LeafPath& leaf : leaves) {
      const Node& end = tree_.node(leaf.leaf);
      const std::string history = HistoryOf(leaf.leaf) + " ";
      const bool entered =
          HistoryOf(leaf.leaf) == HistoryOf(node) && ToyEnvironment::Changes(end.action);
      const bool behind = history.starts_with(HistoryOf(node) + " ");
      const bool in_time = end.end != End::kDepth || end.depth - step.depth > shortest;
      if (behind && !entered && in_time) ++ends;
      if (behind || history == before + " " || !history.starts_with(before + " ")) continue;
      ++elsewhere;
      if (leaf.value >= wanted(best_good)) ++as_good;
    }
    if (ends > 0 && as_good >= kMinSuccess * elsewhere)
      expected.insert(before + " |" + step.action);
  }
  std::set<std::string> found;
  for (const Mistake& mistake : Mistakes(Pairing::kSiblings)) {
    const Node& step = tree_.node(mistake.node);
    const bool inserted = found.insert(HistoryOf(step.parent) + " |" + step.action).second;
    EXPECT_TRUE(inserted) << "twice: " << step.action;
  }
  EXPECT_EQ(found, expected);
}

TEST_P(RowProperties, ShortenedPathsReplayToTheSameEnd) {
  ToyEnvironment world(true);
  SessionPool pool(world, 4);
  const std::atomic<bool> stop = false;
  Replayer replayer(1, family_, world, pool, stop);
  ASSERT_TRUE(replayer.Start());
  Pruner pruner(tree_, states_, family_);
  for (const PathPair& pair : GoodAlone(LeafPaths(tree_), {})) {
    const SplicePlan whole = PlanOf(tree_, states_, pair, 0);
    const SplicePlan shorter = pruner.Shorten(whole, Prune::kFull, 0);
    const Trajectory trajectory = Splice(tree_, states_, shorter, {});
    const ReplayedEpisode episode = replayer.Run(StateTree::kRoot, ActionsOf(trajectory)).value();
    ASSERT_EQ(episode.size(), trajectory.turns.size());
    for (const ReplayedTurn& turn : episode) EXPECT_FALSE(turn.unchanged);
    if (episode.empty()) continue;  // a path whose every step changed nothing
    EXPECT_EQ(HistoryOf(shorter.good.back()), HistoryOf(pair.good.leaf));
    EXPECT_LE(shorter.good.size(), whole.good.size());
  }
}

// By brute force over all pairs of leaves.
TEST_P(RowProperties, PairsAreTheRightOnes) {
  const std::vector<LeafPath> paths = LeafPaths(tree_);
  const ValueThresholds choice;
  std::vector<PathPair> all;
  std::vector<PathPair> siblings;
  const auto depth = [&](const PathPair& pair) { return tree_.node(pair.ancestor).depth; };
  for (const LeafPath& bad : paths) {
    std::vector<PathPair> of_bad;
    for (const LeafPath& good : paths) {
      if (good.value < 0.5 || good.value - bad.value <= 0.2 + 1e-9) continue;
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
TEST(RowPropertiesTest, TheTreesHavePairsAndMistakes) {
  size_t pairs = 0;
  std::map<bool, int> mistakes;  // by whether they were refused
  MistakeOptions options;
  options.min_evidence = 1;
  options.min_success = kMinSuccess;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    ToySearch search(/*forks=*/true);
    search.options.seed = seed;
    const Tree tree = search.MustRun();
    pairs += PairPaths(tree, LeafPaths(tree), {}, Pairing::kAll).size();
    const StateMap states(tree, search.family);
    for (const Mistake& mistake : FindMistakes(tree, states, search.family, options)) {
      mistakes[mistake.refused] += 1;
    }
  }
  EXPECT_GT(pairs, 200U);
  EXPECT_GT(mistakes[false], 50);
  EXPECT_GT(mistakes[true], 50);
}

}  // namespace
}  // namespace agentr
