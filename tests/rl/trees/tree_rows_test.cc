#include "rl/trees/tree_rows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "lm/local_language_model.h"
#include "tests/lm/small_lm.h"
#include "tests/mcts/toy_search.h"
#include "tests/revision/hand_tree.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

auto Near(double value) { return DoubleNear(value, 1e-12); }

RowTokenizer LetterText() {
  RowTokenizer text;
  text.tokenizer = std::make_unique<CharacterTokenizer>();
  text.chat = std::make_unique<LetterTemplate>();
  return text;
}

// The tree of a search with a model in the process.
Tree SampledTree(LanguageModel& model) {
  ToyFamily family;
  ToyEnvironment world;
  SessionPool pool(world, 8);
  const std::atomic<bool> stop = false;
  SearchOptions options;
  options.max_depth = 6;
  options.n_gen = 3;
  options.max_new_tokens = 40;
  options.max_context = 330;  // so that some prompts lose turns
  const auto executor = MakeExecutor(1, world, pool, family, stop);
  Search search(options, {"toy", 1, "small", "", "{}"}, {family, model, *executor, stop});
  Result<Tree> tree = search.Run();
  EXPECT_TRUE(tree) << tree.error().message;
  return std::move(*tree);
}

// The row is the prompt that the model got in the search, and what it sampled then.
TEST(TreeRowEncoder, RepeatsWhatTheModelSawAndSampled) {
  LocalLanguageModel model(SmallModel());
  const Tree tree = SampledTree(model);
  const RowTokenizer text = LetterText();
  int dropped = 0;
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    const auto response = TreeRowEncoder(text, 1000).Encode(tree, i);
    ASSERT_TRUE(response);
    const auto prompt = model.Prepare(tree.Conversation(node.parent, node.dropped_turns),
                                      tree.SampledIds(node.parent, node.dropped_turns));
    std::vector<int32_t> ids = prompt->ids;
    ids.insert(ids.end(), node.token_ids.begin(), node.token_ids.end());
    EXPECT_EQ(response->row.ids, ids);
    EXPECT_EQ(response->sampled, node.logprobs);
    ASSERT_EQ(response->row.trained.size(), 1U);
    EXPECT_EQ(response->row.trained[0].begin, std::ssize(prompt->ids));
    EXPECT_EQ(response->row.trained[0].end, std::ssize(ids));
    dropped += node.dropped_turns;
  }
  EXPECT_GT(dropped, 0);
}

TEST(TreeRowEncoder, EncodesTheTextOfOtherTrees) {
  const Tree tree = HandTree({{"a b", 1}});
  const RowTokenizer text = GoldenRowTokenizer("qwen2", "chatml");
  const auto response = TreeRowEncoder(text, 1000).Encode(tree, At(tree, "a b"));
  ASSERT_TRUE(response);
  EXPECT_TRUE(response->sampled.empty());
  const auto& row = response->row;
  const auto decode = [&](size_t begin, size_t end) {
    return text.tokenizer->Decode(std::span(row.ids).subspan(begin, end - begin), false);
  };
  const auto begin = static_cast<size_t>(row.trained[0].begin);
  EXPECT_EQ(decode(begin, row.ids.size()), "Thought: I go on.\nAction: b<|im_end|>");
  EXPECT_THAT(decode(0, begin), ::testing::EndsWith("saw a<|im_end|>\n<|im_start|>assistant\n"));
}

// Responses that were sampled in other tokens than the tokenizer would make of their text.
TEST(TreeRowEncoder, KeepsTheSampledTokensOfAllTurns) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2", "chatml");
  const Tree plain = HandTree({{"a b", 1}});
  Tree tree(plain.origin(), plain.instruction(), plain.root().observation);
  for (int i = 1; i < plain.size(); ++i) {
    Node node = plain.node(i);
    node.children.clear();
    for (const char c : node.response) {
      for (const int32_t id : text.tokenizer->Encode(std::string(1, c), SpecialText::kPlain)) {
        node.token_ids.push_back(id);
      }
    }
    node.token_ids.push_back(text.chat->stop_tokens().front());
    tree.Add(node.parent, node);
  }
  const std::vector<int32_t> ids = TreeRowEncoder(text, 1000).Encode(tree, 2)->row.ids;
  EXPECT_GT(ids.size(), TreeRowEncoder(text, 1000).Encode(plain, 2)->row.ids.size());
  for (const int node : {1, 2}) {
    const std::vector<int32_t>& sampled = tree.node(node).token_ids;
    EXPECT_FALSE(std::ranges::search(ids, sampled).empty()) << node;
  }
}

// A search with strip_history did not show its model the thoughts of earlier turns.
TEST(TreeRowEncoder, PromptsHaveTheThoughtsThatTheSearchShowed) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2", "chatml");
  const auto row = [&](const std::string& search) {
    TreeOrigin origin;
    origin.search = search;
    Tree tree(origin, {}, "o");
    for (int i = 0; i < 2; ++i) {
      Node node;
      node.response = "<think>\nhm\n</think>\n\nAction: a";
      node.reasoning = "apart";
      node.observation = "o";
      tree.Add(i, std::move(node));
    }
    return text.tokenizer->Decode(TreeRowEncoder(text, 1000).Encode(tree, 2)->row.ids, false);
  };
  const std::string user = "<|im_start|>user\no<|im_end|>\n<|im_start|>assistant\n";
  const std::string said =
      "<think>\napart\n</think>\n\n<think>\nhm\n</think>\n\nAction: a<|im_end|>";
  EXPECT_EQ(row(R"({"thinking":"strip_history"})"), user + "Action: a<|im_end|>\n" + user + said);
  EXPECT_EQ(row("{}"), user + said + "\n" + user + said);
}

TEST(TreeRowEncoder, LeavesOutLongRows) {
  const Tree tree = HandTree({{"a b", 1}});
  const RowTokenizer text = GoldenRowTokenizer("qwen2", "chatml");
  const size_t tokens = TreeRowEncoder(text, 1000).Encode(tree, 1)->row.ids.size();
  EXPECT_TRUE(TreeRowEncoder(text, static_cast<int>(tokens)).Encode(tree, 1));
  EXPECT_FALSE(TreeRowEncoder(text, static_cast<int>(tokens) - 1).Encode(tree, 1));
}

TEST(StepAdvantages, CompareANodeWithItsParent) {
  // Root: 0.5; a: 0.75 of its two episodes, b: 0 of one.
  const Tree tree = HandTree({{"a x", 1}, {"a y", 0.5}, {"b x", 0}});
  const std::vector<double> advantages = StepAdvantages(tree);
  const auto of = [&](const std::string& actions) {
    return advantages[static_cast<size_t>(At(tree, actions))];
  };
  EXPECT_EQ(advantages[0], 0);
  EXPECT_NEAR(of("a"), 0.75 - 0.5, 1e-12);
  EXPECT_NEAR(of("a x"), 1 - 0.75, 1e-12);
  EXPECT_NEAR(of("b"), 0 - 0.5, 1e-12);
  EXPECT_NEAR(of("b x"), 0, 1e-12);
}

TEST(TreeGroupAdvantages, AverageTheScoresOfTheEpisodesBehindANode) {
  const Tree tree = HandTree({{"a x", 1}, {"a y", 0}, {"b x", 0}, {"b y", 0}});
  const double score = 0.75 / std::sqrt(3.0 / 16);  // of the episode with reward 1
  const double others = -0.25 / std::sqrt(3.0 / 16);
  const auto advantages = TreeGroupAdvantages({&tree}, true)[0];
  const auto of = [&](const std::string& actions) {
    return advantages[static_cast<size_t>(At(tree, actions))];
  };
  EXPECT_NEAR(advantages[0], 0, 1e-12);
  EXPECT_NEAR(of("a x"), score, 1e-12);
  EXPECT_NEAR(of("a"), (score + others) / 2, 1e-12);
  EXPECT_NEAR(of("b"), others, 1e-12);
  EXPECT_NEAR(TreeGroupAdvantages({&tree}, false)[0][static_cast<size_t>(At(tree, "a x"))], 0.75,
              1e-12);
}

TEST(TreeGroupAdvantages, AddTheComparisonWithOtherTreesOfTheTask) {
  const Tree good = HandTree({{"x", 1}, {"y", 1}}), mixed = HandTree({{"x", 1}, {"y", 0}});
  const auto advantages = TreeGroupAdvantages({&good, &mixed}, false);
  // Inside `good` all are equal; of all four, the mean is 0.75.
  EXPECT_THAT(advantages[0], ElementsAre(Near(0.25), Near(0.25), Near(0.25)));
  EXPECT_THAT(advantages[1], ElementsAre(Near(-0.25), Near(0.5 + 0.25), Near(-0.5 - 0.75)));
}

}  // namespace
}  // namespace agentr
