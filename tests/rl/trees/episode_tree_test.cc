#include "rl/trees/episode_tree.h"

#include <gmock/gmock.h>

#include "eval/episode_store.h"
#include "rl/trees/tree_rows.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

Episode Played(int attempt, const std::string& actions, double reward,
               EpisodeEnd end = EpisodeEnd::kDone) {
  Episode episode;
  episode.task_id = 7;
  episode.attempt = attempt;
  episode.end = end;
  episode.reward = reward;
  episode.instruction = {{"user", "Play."}};
  episode.first_observation = "Goal.";
  std::string seen;
  for (const char action : actions) {
    seen += action;
    episode.turns.push_back({{.response = std::string("Action: ") + action,
                              .action = std::string(1, action),
                              .observation = "saw " + seen}});
    episode.turns.back().token_ids = {action};
    episode.turns.back().logprobs = {-0.5F};
  }
  return episode;
}

TEST(TreeOfEpisodes, SharesTheTurnsWithWhichEpisodesBegin) {
  const Tree tree =
      TreeOfEpisodes("toy", {Played(0, "abx", 1), Played(1, "aby", 0),
                             Played(2, "ac", 0, EpisodeEnd::kMaxSteps), Played(3, "abx", 1)});
  ASSERT_EQ(tree.size(), 1 + 2 + 4);  // a, ab; the four ends
  EXPECT_EQ(tree.root().visits, 4);
  EXPECT_EQ(tree.root().value, 2);
  EXPECT_EQ(tree.node(1).visits, 4);
  EXPECT_EQ(tree.node(2).visits, 3);
  const Node& last = tree.node(6);
  EXPECT_EQ(last.end, End::kDone);
  EXPECT_EQ(last.logprobs, std::vector<float>{-0.5F});
  EXPECT_EQ(tree.node(5).end, End::kDepth);
  // GRPO's advantages: rewards 1, 0, 0, 1 with mean and deviation 0.5.
  const std::vector<double> advantages = TreeGroupAdvantages({&tree}, true)[0];
  EXPECT_NEAR(advantages[3], 1, 1e-12);
  EXPECT_NEAR(advantages[4], -1, 1e-12);
  EXPECT_NEAR(advantages[2], 1.0 / 3, 1e-12);  // of "abx", "aby", "abx"
  EXPECT_NEAR(advantages[1], 0, 1e-12);
}

TEST(TreeOfEpisodes, HasACutTurnWhoseTokensAreKnown) {
  Episode cut = Played(0, "a", 0.5, EpisodeEnd::kCutTurn);
  cut.cut_response = "Thought: on and on";
  EXPECT_EQ(TreeOfEpisodes("toy", {cut}).size(), 2);
  cut.cut_ids = {7, 8};
  cut.cut_logprobs = {-1, -2};
  cut.cut_dropped_turns = 1;
  const Tree tree = TreeOfEpisodes("toy", {cut, Played(1, "ab", 0)});
  ASSERT_EQ(tree.size(), 4);  // both begin with a
  const Node& node = tree.node(2);
  EXPECT_EQ(node.parent, 1);
  EXPECT_EQ(node.end, End::kCut);
  EXPECT_EQ(node.reward, 0.5);
  EXPECT_EQ(node.response, "Thought: on and on");
  EXPECT_EQ(node.token_ids, cut.cut_ids);
  EXPECT_EQ(node.logprobs, cut.cut_logprobs);
  EXPECT_EQ(node.dropped_turns, 1);
}

TEST(ReadEpisodeTrees, GroupsByTask) {
  const ScratchFolder folder;
  FileEpisodeStore store(folder.path() / "toy", "{}");
  Episode alone = Played(0, "a", 1);
  alone.task_id = 9;
  for (const Episode& episode : {Played(0, "ax", 1), Played(1, "ay", 0), alone}) {
    ASSERT_EQ(store.TryClaim(episode.task_id, episode.attempt), Claim::kMine);
    store.Commit(episode);
  }
  const std::vector<Tree> trees = ReadEpisodeTrees(folder.path() / "toy", "toy");
  ASSERT_EQ(trees.size(), 2U);
  EXPECT_EQ(trees[0].origin().task_id, 7);
  EXPECT_EQ(trees[0].size(), 4);
  EXPECT_EQ(trees[0].root().visits, 2);
  EXPECT_EQ(trees[1].root().visits, 1);
}

TEST(ReadEpisodeTrees, CountTheRewardsOfEpisodesThatWereCutAtOnce) {
  const ScratchFolder folder;
  FileEpisodeStore store(folder.path() / "toy", "{}");
  for (const Episode& episode :
       {Played(0, "ax", 1), Played(1, "", 0, EpisodeEnd::kCutTurn), Played(2, "ay", 1)}) {
    ASSERT_EQ(store.TryClaim(episode.task_id, episode.attempt), Claim::kMine);
    store.Commit(episode);
  }
  const std::vector<Tree> trees = ReadEpisodeTrees(folder.path() / "toy", "toy");
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].root().visits, 3);
  ASSERT_EQ(trees[0].size(), 5);  // a, x, y, and the one without a response
  // Of the mean 2/3.
  const std::vector<double> advantages = TreeGroupAdvantages({&trees[0]}, false)[0];
  EXPECT_NEAR(advantages[1], 1.0 / 3, 1e-12);
  EXPECT_TRUE(trees[0].node(3).response.empty());
  EXPECT_NEAR(advantages[3], -2.0 / 3, 1e-12);
}

TEST(ReadEpisodeTrees, RefusesWhatTheModelDidNotSay) {
  const ScratchFolder folder;
  FileEpisodeStore store(folder.path() / "toy", "{}");
  Episode slipped = Played(0, "ax", 1);
  slipped.turns.back().slip = Slip{.said = "y"};
  ASSERT_EQ(store.TryClaim(slipped.task_id, slipped.attempt), Claim::kMine);
  store.Commit(slipped);
  EXPECT_THROW(ReadEpisodeTrees(folder.path() / "toy", "toy"), FatalError);
}

}  // namespace
}  // namespace agentr
