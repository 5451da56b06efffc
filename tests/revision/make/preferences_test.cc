#include "revision/make/preferences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Found {
  std::vector<Preference> pairs;
  PreferenceCounts counts;
};

Found Find(const Tree& tree, const PreferenceOptions& options = {}) {
  Found found;
  found.pairs =
      FindPreferences(tree, StateMap(tree, ToyFamily()), ToyFamily(), options, found.counts);
  return found;
}

// Every pair of siblings is either a preference or was left out for one reason.
void ExpectAllCounted(const PreferenceCounts& c) {
  EXPECT_EQ(c.siblings, c.pairs + c.same_step + c.other_prompt + c.uncertain + c.close + c.refused +
                            c.slipped + c.unclean + c.repeated + c.over_limit);
}

TEST(FindPreferences, ComparesSiblingsByTheirAverageRewards) {
  // After "a": b has 1 and 0.5, c has 0 and 0.4.
  const Tree tree = HandTree({{"a b x", 1}, {"a b y", 0.5}, {"a c x", 0}, {"a c y", 0.4}});
  const Found found = Find(tree, {.margin = 0.5});
  ASSERT_THAT(found.pairs, SizeIs(2));
  EXPECT_EQ(found.pairs[0].parent, At(tree, "a"));
  EXPECT_EQ(found.pairs[0].chosen.node, At(tree, "a b"));
  EXPECT_EQ(found.pairs[0].rejected.node, At(tree, "a c"));
  EXPECT_DOUBLE_EQ(found.pairs[0].chosen.value, 0.75);
  EXPECT_DOUBLE_EQ(found.pairs[0].rejected.value, 0.2);
  EXPECT_EQ(found.pairs[0].chosen.visits, 2);
  // "x" and "y" end the episode, so one visit is enough; after "c" they are too close.
  EXPECT_EQ(found.pairs[1].chosen.node, At(tree, "a b x"));
  EXPECT_EQ(found.counts.close, 1);
  ExpectAllCounted(found.counts);
}

TEST(FindPreferences, NeedsVisitsUnlessAnEpisodeEnded) {
  const Tree tree = HandTree({{"a x", 1}, {"b x", 0}});  // one visit each
  EXPECT_THAT(Find(tree).pairs, IsEmpty());
  EXPECT_EQ(Find(tree).counts.uncertain, 1);
  EXPECT_THAT(Find(tree, {.min_visits = 1}).pairs, SizeIs(1));
  EXPECT_THAT(Find(HandTree({{"x", 1}, {"y", 0}})).pairs, SizeIs(1));
  // The depth limit ends a search, not an episode: that reward may still change.
  EXPECT_THAT(Find(HandTree({{"x", 1}, {"y", 0, End::kDepth}})).pairs, IsEmpty());
}

TEST(FindPreferences, TheSameStepIsOneGroup) {
  // Two wordings of the step "a", one lucky and one not, and a worse step "b".
  Tree tree = HandTree({{"a x", 1}, {"a y", 1}, {"b x", 0}, {"b y", 0}});
  Node again = tree.node(At(tree, "a"));
  again.children.clear();
  again.response = "Thought: Once more.\nAction: a";
  again.visits = 2;
  again.value = 0;
  const int copy = tree.Add(0, again);
  tree.Restore(copy, 2, 0);
  const Found found = Find(tree);
  ASSERT_THAT(found.pairs, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.pairs[0].chosen.value, 0.5);  // of both wordings
  EXPECT_EQ(found.pairs[0].chosen.visits, 4);
  EXPECT_EQ(found.counts.same_step, 1);
  EXPECT_EQ(found.counts.repeated, 1);
  ExpectAllCounted(found.counts);
}

TEST(FindPreferences, WhatTheModelDidNotSayIsNeverTheBetterOne) {
  const auto slipped = [](Node& node) { node.slip = Slip{.said = "c"}; };
  const Tree tree = HandTree({{"a x", 1}, {"a y", 1}, {"b x", 0}, {"b y", 0}});
  const Found found = Find(Changed(tree, At(tree, "a"), slipped));
  EXPECT_THAT(found.pairs, IsEmpty());
  EXPECT_EQ(found.counts.slipped, 1);
  ExpectAllCounted(found.counts);
  EXPECT_THAT(Find(Changed(tree, At(tree, "b"), slipped)).pairs, SizeIs(1));
}

TEST(FindPreferences, ARefusedActionIsNeverTheBetterOne) {
  const auto refused = [](Node& node) { node.observation = "Nothing changes."; };
  const Tree lucky = HandTree({{"stuckA x", 1}, {"stuckA y", 1}, {"b x", 0}, {"b y", 0}});
  EXPECT_THAT(Find(lucky).pairs, SizeIs(1));
  EXPECT_THAT(Find(Changed(lucky, 1, refused)).pairs, IsEmpty());
  const Tree unlucky = HandTree({{"stuckA x", 0}, {"stuckA y", 0}, {"b x", 1}, {"b y", 1}});
  EXPECT_THAT(Find(Changed(unlucky, 1, refused)).pairs, SizeIs(1));
  Tree both = HandTree({{"stuckA x", 1}, {"stuckA y", 1}, {"stuckB x", 0}, {"stuckB y", 0}});
  for (const char* action : {"stuckA", "stuckB"}) {
    both = Changed(both, At(both, action), refused);
  }
  EXPECT_THAT(Find(both).pairs, IsEmpty());
  EXPECT_EQ(Find(both).counts.refused, 1);
}

// It leaves the state as it is, so one success behind an accepted action is enough.
TEST(FindPreferences, ARefusedActionNeedsNoVisitsToBeTheWorseOne) {
  Tree tree = HandTree({{"a x", 1}});
  Node refused = tree.node(At(tree, "a"));
  refused.children.clear();
  refused.response = "Action: stuck";
  refused.action = "stuck";
  refused.observation = "Nothing changes.";
  const int index = tree.Add(0, refused);
  tree.Restore(index, 0, 0);
  const Found found = Find(tree);
  ASSERT_THAT(found.pairs, SizeIs(1));
  EXPECT_EQ(found.pairs[0].chosen.node, At(tree, "a"));
  EXPECT_EQ(found.pairs[0].rejected.node, index);
  EXPECT_THAT(Find(tree, {.refusals = false}).pairs, IsEmpty());
  // Without success behind the accepted action nothing is known.
  Tree failed = HandTree({{"a x", 0}});
  failed.Restore(failed.Add(0, refused), 0, 0);
  EXPECT_THAT(Find(failed).pairs, IsEmpty());
}

TEST(FindPreferences, TheBetterResponseSaysOneAction) {
  const Tree tree = HandTree({{"x", 1}, {"y", 0}});
  const auto twice = [](Node& node) { node.response += "\nAction: z"; };
  EXPECT_THAT(Find(Changed(tree, 1, twice)).pairs, IsEmpty());
  EXPECT_EQ(Find(Changed(tree, 1, twice)).counts.unclean, 1);
  EXPECT_THAT(Find(Changed(tree, 2, twice)).pairs, SizeIs(1));
}

TEST(FindPreferences, BothSawTheSamePrompt) {
  const Tree tree = HandTree({{"a x", 1}, {"a y", 0}});
  const auto dropped = [](Node& node) { node.dropped_turns = 1; };
  EXPECT_THAT(Find(tree).pairs, SizeIs(1));
  const Tree other = Changed(tree, At(tree, "a y"), dropped);
  EXPECT_THAT(Find(other).pairs, IsEmpty());
  EXPECT_EQ(Find(other).counts.other_prompt, 1);
}

TEST(FindPreferences, KeepsTheGreatestDifferencesOfAPrompt) {
  const Tree tree = HandTree({{"x", 1}, {"y", 0.4}, {"z", 0}});
  EXPECT_THAT(Find(tree).pairs, SizeIs(3));
  const Found one = Find(tree, {.max_per_node = 1});
  ASSERT_THAT(one.pairs, SizeIs(1));
  EXPECT_EQ(one.pairs[0].chosen.node, At(tree, "x"));
  EXPECT_EQ(one.pairs[0].rejected.node, At(tree, "z"));
  EXPECT_EQ(one.counts.over_limit, 2);
  ExpectAllCounted(one.counts);
}

TEST(LimitPreferences, KeepsTheOrderAndDrawsBySeed) {
  std::vector<Preference> pairs(10);
  for (int i = 0; i < 10; ++i) pairs[static_cast<size_t>(i)].parent = i;
  const auto drawn = [&](uint64_t seed) {
    PreferenceCounts counts{.pairs = 10};
    const auto kept = LimitPreferences(pairs, 3, RandomStream(seed), counts);
    EXPECT_EQ(counts.pairs, 3);
    EXPECT_EQ(counts.over_limit, 7);
    std::vector<int> parents;
    for (const Preference& pair : kept) parents.push_back(pair.parent);
    EXPECT_TRUE(std::ranges::is_sorted(parents));
    return parents;
  };
  std::set<std::vector<int>> different;
  for (uint64_t seed = 0; seed < 8; ++seed) different.insert(drawn(seed));
  EXPECT_GT(different.size(), 3U);
  EXPECT_EQ(drawn(1), drawn(1));
  PreferenceCounts counts;
  EXPECT_THAT(LimitPreferences(pairs, 0, RandomStream(1), counts), SizeIs(10));
}

}  // namespace
}  // namespace agentr
