// A search over a model in the process: what it stores, and turns dropped by exact counts.
#include <gmock/gmock.h>

#include "lm/local_language_model.h"
#include "tests/clients/count_tokens.h"
#include "tests/lm/small_lm.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using ::testing::SizeIs;

class LocalModelSearch : public ::testing::Test {
 protected:
  LocalModelSearch() {
    options_.max_depth = 6;
    options_.n_gen = 3;
    options_.max_new_tokens = 40;
  }

  Tree Run() {
    SessionPool pool(world_, /*limit=*/8);
    const auto executor = MakeExecutor(/*task=*/1, world_, pool, family_, stop_);
    Search search(options_, {"toy", 1, model_.name(), "hash", ToJson(options_)},
                  {family_, model_, *executor, stop_});
    Result<Tree> tree = search.Run();
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }

  LocalLanguageModel model_{SmallModel()};
  ToyFamily family_;
  ToyEnvironment world_;
  std::atomic<bool> stop_ = false;
  SearchOptions options_;
};

TEST_F(LocalModelSearch, NodesCarryTheTokensOfTheirResponses) {
  const Tree tree = Run();
  EXPECT_GT(tree.nodes().size(), 20U);
  const CharacterTokenizer tokenizer;
  for (size_t i = 1; i < tree.nodes().size(); ++i) {
    const Node& node = tree.nodes()[i];
    EXPECT_EQ(tokenizer.Decode(node.token_ids, /*skip_special=*/true), node.response);
    EXPECT_THAT(node.logprobs, SizeIs(node.token_ids.size()));
  }
}

TEST_F(LocalModelSearch, DropsNoMoreTurnsThanItMust) {
  options_.max_context = 330;
  const Tree tree = Run();
  const int64_t room = options_.max_context - options_.max_new_tokens;
  int most = 0;
  for (size_t i = 1; i < tree.nodes().size(); ++i) {
    const Node& node = tree.nodes()[i];
    const int dropped = node.dropped_turns;
    most = std::max(most, dropped);
    EXPECT_LE(CountTokens(model_, tree.Conversation(node.parent, dropped)), room);
    if (dropped > 0) {
      EXPECT_GT(CountTokens(model_, tree.Conversation(node.parent, dropped - 1)), room);
    }
  }
  EXPECT_GT(most, 1);
}

}  // namespace
}  // namespace agentr
