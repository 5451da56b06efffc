// The prompts of a search: what the model saw, and what is dropped to fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mcts/search.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;

// The prompts that were answered belong to the expanded nodes in the order of their children.
void ExpectStoredIsWhatWasSeen(const Tree& tree, const std::vector<std::vector<Message>>& prompts) {
  std::vector<int> first_children;
  for (const Node& node : tree.nodes()) {
    if (!node.children.empty()) first_children.push_back(node.children.front());
  }
  std::ranges::sort(first_children);
  ASSERT_EQ(first_children.size(), prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    for (const int child : tree.node(tree.node(first_children[i]).parent).children) {
      std::vector<Message> seen = tree.SeenConversation(child);
      ASSERT_GE(seen.size(), 2);
      EXPECT_EQ(seen.back(), (Message{"user", tree.node(child).observation}));
      seen.pop_back();
      EXPECT_EQ(seen.back(), (Message{"assistant", tree.node(child).response}));
      seen.pop_back();
      EXPECT_EQ(seen, prompts[i]) << "node " << child;
    }
  }
}

int MostDropped(const Tree& tree) {
  return std::ranges::max(tree.nodes(), {}, &Node::dropped_turns).dropped_turns;
}

TEST(SearchContextTest, StoresWhatTheModelSaw) {
  ToySearch search;
  const Tree tree = search.MustRun();
  EXPECT_EQ(MostDropped(tree), 0);
  ExpectStoredIsWhatWasSeen(tree, search.model.prompts());
}

TEST(SearchContextTest, DropsTheOldestTurnsUntilThePromptFits) {
  ToySearch search;
  search.options.n_gen = 1;
  search.options.max_depth = 5;
  // Ten tokens a message: three messages at the root, two more per turn; two turns fit.
  search.options.max_new_tokens = 10;
  search.options.max_context = 80;
  AlwaysReply(search, {"go a"});
  const Tree tree = search.MustRun();
  const auto prompts = search.model.prompts();
  ASSERT_EQ(prompts.size(), 6);
  EXPECT_EQ(prompts[2].size(), 7);
  EXPECT_EQ(prompts[5].size(), 7);
  EXPECT_EQ(prompts[5][2].content, "Goal 1.") << "the first observation stays";
  EXPECT_EQ(tree.node(3).dropped_turns, 0);
  EXPECT_EQ(tree.node(4).dropped_turns, 1);
  EXPECT_EQ(tree.node(6).dropped_turns, 3);
  ExpectStoredIsWhatWasSeen(tree, prompts);
}

TEST(SearchContextTest, DropsFurtherWhenTheModelRefuses) {
  ToySearch search;
  std::vector<std::vector<Message>> answered;
  const ToyModel chooser(ToyActions());
  int calls = 0;
  search.model.reply = [&](std::span<const Message> prompt, int) -> Result<Texts> {
    if (prompt.size() > 5) return Fail(ErrorKind::kContextLength, "too long");
    answered.emplace_back(prompt.begin(), prompt.end());
    ++calls;
    return Texts{ToyModel::Response("go a", calls), ToyModel::Response("go b")};
  };
  const Tree tree = search.MustRun();
  EXPECT_GT(MostDropped(tree), 0);
  ExpectStoredIsWhatWasSeen(tree, answered);
}

TEST(SearchContextTest, SaysWhatToDoWhenNothingFits) {
  ToySearch search;
  search.options.max_context = 60;
  search.options.max_new_tokens = 40;
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kContextLength);
  EXPECT_THAT(tree.error().message, HasSubstr("40 new tokens"));
  EXPECT_THAT(tree.error().message, HasSubstr("context of 60"));
  EXPECT_THAT(tree.error().message, HasSubstr("--max_context"));
  EXPECT_TRUE(search.model.prompts().empty());
}

TEST(SearchContextTest, PassesOnWhatTheModelSaysWhenItRefusesEverything) {
  ToySearch search;
  search.model.reply = [](std::span<const Message>, int) -> Result<Texts> {
    return Fail(ErrorKind::kContextLength, "at most 12 tokens here");
  };
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kContextLength);
  EXPECT_THAT(tree.error().message, HasSubstr("at most 12 tokens here"));
}

}  // namespace
}  // namespace agentr
