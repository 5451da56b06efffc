#include "revision/find/mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "common/error.h"
#include "tasks/revision_hints.h"
#include "tests/mcts/toy_environment.h"
#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MistakesTest : public ::testing::Test {
 protected:
  // "action/good leaves" of each mistake.
  std::vector<std::string> Found(const Tree& tree) {
    const StateMap states(tree, family_);
    std::vector<std::string> names;
    for (const Mistake& mistake : FindMistakes(tree, states, family_, options_)) {
      names.push_back(tree.node(mistake.node).action);
      for (const LeafPath& good : mistake.goods) names.back() += "/" + tree.node(good.leaf).action;
    }
    return names;
  }

  const ToyFamily family_;
  MistakeOptions options_{.choice = {}, .min_evidence = 1};
};

// The same tree, in which "wait" is the turn that notices a mistake.
Tree WithRevisions(const Tree& plain) {
  return Changed(plain, [](int /*index*/, Node& node) {
    if (node.action == "wait") node.observation = "ok.";
  });
}

TEST_F(MistakesTest, ARevisionOfTheSearchIsNoStepAndNoMistake) {
  const Tree tree = WithRevisions(HandTree({{"p wait g", 1}, {"p wait wait a b", 0}}));
  const StateMap states(tree, family_);
  for (const char* path : {"p wait", "p wait wait"}) {
    EXPECT_FALSE(states.Changed(At(tree, path)));
    EXPECT_FALSE(states.Refused(At(tree, path)));
  }
  EXPECT_THAT(Found(tree), ElementsAre("a/g"));
}

TEST_F(MistakesTest, WhatAHistoryShowsIsTheEnvironments) {
  const Tree tree = WithRevisions(HandTree({{"p wait g", 1}}));
  const auto saw = [&](const char* path) {
    std::vector<std::string> texts;
    for (const Message& message : HistoryOf(tree, family_, At(tree, path))) {
      if (message.role == "user") texts.push_back(message.content);
    }
    return texts;
  };
  EXPECT_THAT(saw("p wait"), ElementsAre("Goal 3.", "saw p"));
  EXPECT_THAT(saw("p wait g"), ElementsAre("Goal 3.", "saw p", "saw p wait g"));
}

TEST_F(MistakesTest, AStepBelowWhichNothingAsGoodWasFound) {
  EXPECT_THAT(Found(HandTree({{"p g", 1}, {"p a b", 0}})), ElementsAre("a/g"));
  EXPECT_THAT(Found(HandTree({{"p g", 1}, {"p a b", 0.8}})), IsEmpty()) << "as good within beta";
}

TEST_F(MistakesTest, OnlyTheStepThatLeavesTheWayToSuccess) {
  // From "a b" one still got to 0.9; from "a b c" to nothing.
  const Tree tree = HandTree({{"g", 1}, {"a b x", 0.9}, {"a b c d", 0}});
  EXPECT_THAT(Found(tree), ElementsAre("c/x"));
}

TEST_F(MistakesTest, TheEndOfAnEpisodeIsNone) {
  for (const End end : {End::kDone, End::kDisaster, End::kDepth}) {
    EXPECT_THAT(Found(HandTree({{"p g", 1}, {"p a", 0, end}})), IsEmpty());
  }
}

TEST_F(MistakesTest, LittleEvidenceIsNone) {
  const Tree tree = HandTree({{"g", 1}, {"a b", 0}, {"a c", 0}, {"d e", 0}});
  options_.min_evidence = 2;
  EXPECT_THAT(Found(tree), ElementsAre("a/g"));
}

TEST_F(MistakesTest, AnEpisodeThatWasCutTooSoonIsNoEvidence) {
  const Tree soon = HandTree({{"g h", 1}, {"a b c", 0, End::kDepth}});
  EXPECT_THAT(Found(soon), IsEmpty()) << "the good path took two turns, behind a there were two";
  const Tree later = HandTree({{"g h", 1}, {"a b c d", 0, End::kDepth}});
  EXPECT_THAT(Found(later), ElementsAre("a/h"));
}

TEST_F(MistakesTest, WhereTheOtherActionsMostlyFailNothingIsShown) {
  EXPECT_THAT(Found(HandTree({{"g", 1}, {"h", 0}, {"a b", 0}})), ElementsAre("a/g"));
  const Tree tree = HandTree({{"g", 1}, {"h", 0}, {"i", 0}, {"a b", 0}});
  EXPECT_THAT(Found(tree), IsEmpty()) << "one of three";
  options_.min_success = 0.3;
  EXPECT_THAT(Found(tree), ElementsAre("a/g"));
}

TEST_F(MistakesTest, AStateThatWasLeftForSuccessElsewhereIsNoDeadEnd) {
  // "a" and "c b" lead to one state, and from behind the second one it went well.
  class OneStateFamily : public ToyFamily, public RevisionHints {
    const RevisionHints& hints() const override { return *this; }
    std::string StateKey(std::span<const Message> history) const override {
      const std::string& saw = history.back().content;
      return saw == "saw a" || saw == "saw c b" ? "there" : saw;
    }
  } family;
  const Tree tree = HandTree({{"g", 1}, {"a x", 0}, {"c b h", 1}});
  const StateMap states(tree, family);
  EXPECT_THAT(FindMistakes(tree, states, family, options_), IsEmpty());
  EXPECT_THAT(Found(tree), ElementsAre("a/g/h")) << "where nothing is known about states";
}

// "back" leads to the state before the last action.
class BackFamily : public ToyFamily, public RevisionHints {
 public:
  const RevisionHints& hints() const override { return *this; }
  std::string StateKey(std::span<const Message> history) const override {
    std::string key;
    std::istringstream words(history.back().content);
    for (std::string word; words >> word;) {
      if (word == "back") {
        key.erase(key.rfind(' '));
      } else {
        key += " " + word;
      }
    }
    return key;
  }
};

TEST_F(MistakesTest, AStepThatHadToBeTakenBackIsOneAlthoughItWentWellThen) {
  const BackFamily family;
  const Tree tree = HandTree({{"p g", 1}, {"p a x", 0.3}, {"p a back g", 1}});
  const StateMap states(tree, family);
  const std::vector<Mistake> mistakes = FindMistakes(tree, states, family, options_);
  ASSERT_EQ(mistakes.size(), 1U);
  EXPECT_EQ(mistakes[0].node, At(tree, "p a"));
  EXPECT_EQ(mistakes[0].best, 0.3);
  EXPECT_EQ(mistakes[0].evidence, 2);
  ASSERT_EQ(mistakes[0].goods.size(), 1U) << "the path over the step repairs nothing";
  EXPECT_EQ(mistakes[0].goods[0].leaf, At(tree, "p g"));
  EXPECT_THAT(Found(tree), IsEmpty()) << "where nothing is known about states";
}

TEST_F(MistakesTest, TakingAStepBackIsNone) {
  const BackFamily family;
  const Tree tree = HandTree({{"p g", 1}, {"p a h", 1}, {"p a back x", 0}});
  const StateMap states(tree, family);
  EXPECT_THAT(FindMistakes(tree, states, family, options_), IsEmpty());
}

TEST_F(MistakesTest, DoingAgainWhatHadToBeTakenBackIsNone) {
  const BackFamily family;
  // Behind the second "a" everything goes over "b", where the episode had been before.
  const Tree tree =
      HandTree({{"p a b back back g", 1}, {"p a b back back a b g", 1}, {"p a b x", 0}});
  const StateMap states(tree, family);
  for (const Mistake& mistake : FindMistakes(tree, states, family, options_)) {
    EXPECT_NE(mistake.node, At(tree, "p a b back back a"));
  }
}

TEST_F(MistakesTest, ARefusedActionWhereTheGoodPathGoesOn) {
  const Tree tree = WithRefusals(HandTree({{"p stuck stuck g", 1}, {"p stuckb x", 0}}));
  // The second refusal of the same action in the same state is the same mistake.
  EXPECT_THAT(Found(tree), ElementsAre("stuck/g", "stuckb/g"));
}

TEST_F(MistakesTest, TheSameActionInTheSameStateIsOneMistake) {
  const Tree tree = WithRefusals(HandTree({{"g", 1}, {"a b", 0}, {"stuck a c", 0}}));
  EXPECT_THAT(Found(tree), ElementsAre("a/g", "stuck/g"));
  const StateMap states(tree, family_);
  EXPECT_EQ(FindMistakes(tree, states, family_, options_)[0].evidence, 2);
}

TEST_F(MistakesTest, WithAllPairsGoodPathsFromAboveAreTakenToo) {
  const Tree tree = HandTree({{"g", 1}, {"a h", 1}, {"a b c", 0}});
  EXPECT_THAT(Found(tree), ElementsAre("b/h"));
  options_.pairing = Pairing::kAll;
  EXPECT_THAT(Found(tree), ElementsAre("b/g/h"));
  const StateMap states(tree, family_);
  const Mistake mistake = FindMistakes(tree, states, family_, options_)[0];
  const Draft draft = DraftOf(tree, states, mistake, mistake.goods[0], options_, RandomStream(1));
  EXPECT_EQ(draft.pair.ancestor, 0);
  EXPECT_EQ(draft.error.bad_steps, 2);
}

TEST_F(MistakesTest, ALateNoticeKeepsFurtherBadSteps) {
  const Tree tree = HandTree({{"g", 1}, {"a b c d e", 0}});
  const StateMap states(tree, family_);
  const Mistake mistake = FindMistakes(tree, states, family_, options_)[0];
  options_.notice = Notice::kLate;
  std::set<int> lengths;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Draft draft =
        DraftOf(tree, states, mistake, mistake.goods[0], options_, RandomStream(seed));
    EXPECT_EQ(draft.error.steps.back().node, At(tree, "a"));
    EXPECT_EQ(draft.error.bad_steps, tree.node(draft.pair.bad.leaf).depth);
    lengths.insert(draft.error.bad_steps);
  }
  EXPECT_THAT(lengths, ElementsAre(2, 3, 4)) << "never the end, which is the fifth step";
}

TEST_F(MistakesTest, ALateNoticeOfARefusalStandsBehindARefusedStep) {
  const Tree tree = WithRefusals(HandTree({{"g", 1}, {"stuck a stuck b c d", 0}}));
  const StateMap states(tree, family_);
  const std::vector<Mistake> mistakes = FindMistakes(tree, states, family_, options_);
  const auto refused = std::ranges::find(mistakes, At(tree, "stuck"), &Mistake::node);
  ASSERT_NE(refused, mistakes.end());
  options_.notice = Notice::kLate;
  std::set<int> lengths;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    lengths.insert(DraftOf(tree, states, *refused, refused->goods[0], options_, RandomStream(seed))
                       .error.bad_steps);
  }
  EXPECT_THAT(lengths, ElementsAre(1, 3)) << "not behind a, b or c, which were carried out";
}

TEST_F(MistakesTest, TheChooserGivesEachMistakeATurnAndDeadEndsMore) {
  const Tree tree =
      WithRefusals(HandTree({{"g", 1}, {"h", 1}, {"i", 1}, {"k", 1}, {"a b", 0}, {"stuck x", 0}}));
  const StateMap states(tree, family_);
  const std::vector<Mistake> mistakes = FindMistakes(tree, states, family_, options_);
  ASSERT_EQ(mistakes.size(), 2U);
  MistakeChooser chooser(states, mistakes, RandomStream(3));
  std::string order;
  std::set<std::pair<size_t, size_t>> seen;
  while (const auto choice = chooser.Next()) {
    order += mistakes[choice->mistake].refused ? 'r' : 'd';
    EXPECT_TRUE(seen.emplace(choice->mistake, choice->good).second);
    chooser.Keep(*choice);
  }
  EXPECT_EQ(order, "dddrdrrr");
}

TEST_F(MistakesTest, MistakesOfFormAreLeftOutWhereTheyAreNotWanted) {
  const Tree tree =
      WithRefusals(HandTree({{"g", 1}, {"h", 1}, {"i", 1}, {"k", 1}, {"a b", 0}, {"stuck x", 0}}));
  const StateMap states(tree, family_);
  std::vector<Mistake> mistakes = FindMistakes(tree, states, family_, options_);
  for (Mistake& mistake : mistakes) mistake.name = mistake.refused ? "not_offered" : "wandered";
  MistakeChooser chooser(states, mistakes, RandomStream(3));
  std::string order;
  const auto take = [&](bool forms) {
    while (const auto choice = chooser.Next(forms)) {
      order += mistakes[choice->mistake].refused ? 'f' : 'd';
      chooser.Keep(*choice);
    }
  };
  take(/*forms=*/false);
  EXPECT_EQ(order, "dddd");
  take(/*forms=*/true);
  EXPECT_EQ(order, "ddddffff") << "they were only put off";
}

TEST_F(MistakesTest, AMistakeThatNeverWorksIsGivenUp) {
  const Tree tree = HandTree({{"g", 1}, {"h", 1}, {"i", 1}, {"a b", 0}});
  const StateMap states(tree, family_);
  const std::vector<Mistake> mistakes = FindMistakes(tree, states, family_, options_);
  MistakeChooser chooser(states, mistakes, RandomStream(3));
  int tried = 0;
  while (const auto choice = chooser.Next()) {
    ++tried;
    chooser.Fail(*choice);
  }
  EXPECT_EQ(tried, 2);
}

}  // namespace
}  // namespace agentr
