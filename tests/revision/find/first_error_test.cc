#include "revision/find/first_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/revision/hand_tree.h"

namespace agentr {
namespace {

// Says what the test told it about a node; counts the calls.
class ScriptedVerifier : public Verifier {
 public:
  explicit ScriptedVerifier(std::map<int, Judgement> script) : script_(std::move(script)) {}

  Result<StepJudgement> Judge(const PathPair& /*pair*/, int node) override {
    ++calls;
    if (node == fail_at) return Fail(ErrorKind::kTimeout, "no answer");
    const auto known = script_.find(node);
    return StepJudgement{known == script_.end() ? Judgement::kGood : known->second, "because"};
  }

  std::atomic<int> calls = 0;
  int fail_at = -1;

 private:
  const std::map<int, Judgement> script_;
};

class FirstErrorTest : public ::testing::TestWithParam<int> {  // steps ahead
 protected:
  FirstError Find(Verifier* verifier) {
    return FindFirstError(tree_, pair_, verifier, GetParam()).value();
  }
  int Step(const std::string& actions) const { return At(tree_, actions); }

  const Tree tree_ = HandTree({{"p g", 1}, {"p a b c d", 0, End::kDepth}});
  const PathPair pair_ = PairPaths(tree_, LeafPaths(tree_), {}, Pairing::kSiblings).front();
};

INSTANTIATE_TEST_SUITE_P(Ahead, FirstErrorTest, ::testing::Values(1, 2, 3, 16));

TEST_P(FirstErrorTest, TheFirstBadStepEndsTheBadPathInclusive) {
  ScriptedVerifier verifier({{Step("p a b"), Judgement::kBad}, {Step("p a b c"), Judgement::kBad}});
  const FirstError error = Find(&verifier);
  EXPECT_TRUE(error.found);
  EXPECT_EQ(error.bad_steps, 2);
  ASSERT_EQ(error.steps.size(), 2U);
  EXPECT_EQ(error.steps[0].node, Step("p a"));
  EXPECT_EQ(error.steps[1].node, Step("p a b"));
  EXPECT_EQ(error.steps[1].judged.reasons, "because");
}

TEST_P(FirstErrorTest, UncertainCountsAsGoodAndNothingBadKeepsTheWholePath) {
  ScriptedVerifier verifier({{Step("p a"), Judgement::kUncertain}});
  const FirstError error = Find(&verifier);
  EXPECT_FALSE(error.found);
  EXPECT_EQ(error.bad_steps, 4);
  EXPECT_EQ(error.steps.size(), 4U);
}

TEST_P(FirstErrorTest, WithoutAVerifierTheWholePathIsKept) {
  const FirstError error = Find(nullptr);
  EXPECT_FALSE(error.found);
  EXPECT_EQ(error.bad_steps, 4);
  EXPECT_TRUE(error.steps.empty());
}

TEST_P(FirstErrorTest, AFailureBeforeTheFirstBadStepIsAFailure) {
  ScriptedVerifier verifier({{Step("p a b"), Judgement::kBad}});
  verifier.fail_at = Step("p a");
  EXPECT_FALSE(FindFirstError(tree_, pair_, &verifier, GetParam()));
}

TEST_P(FirstErrorTest, AFailureBehindTheFirstBadStepDoesNotMatter) {
  ScriptedVerifier verifier({{Step("p a b"), Judgement::kBad}});
  verifier.fail_at = Step("p a b c");
  EXPECT_EQ(Find(&verifier).bad_steps, 2);
}

TEST_P(FirstErrorTest, NothingIsJudgedTwice) {
  auto scripted = std::make_unique<ScriptedVerifier>(std::map<int, Judgement>{});
  const std::atomic<int>& calls = scripted->calls;
  CachingVerifier verifier(std::move(scripted));
  const FirstError once = Find(&verifier);
  EXPECT_EQ(Find(&verifier), once);
  EXPECT_EQ(calls, 4);
}

TEST(CachingVerifierTest, AFailureIsAskedAgain) {
  auto scripted = std::make_unique<ScriptedVerifier>(std::map<int, Judgement>{});
  scripted->fail_at = 1;
  ScriptedVerifier& inner = *scripted;
  CachingVerifier verifier(std::move(scripted));
  EXPECT_FALSE(verifier.Judge({}, 1));
  inner.fail_at = -1;
  EXPECT_TRUE(verifier.Judge({}, 1));
}

TEST(FirstErrorEndTest, TheStepThatEndedTheEpisodeIsNotLookedAt) {
  for (const End end : {End::kDone, End::kDisaster}) {
    const Tree tree = HandTree({{"p g", 1}, {"p a b", 0, end}});
    const PathPair pair = PairPaths(tree, LeafPaths(tree), {}, Pairing::kSiblings).front();
    ScriptedVerifier verifier({{At(tree, "p a b"), Judgement::kBad}});
    const FirstError error = FindFirstError(tree, pair, &verifier, 1).value();
    EXPECT_FALSE(error.found);
    EXPECT_EQ(error.bad_steps, 1);
  }
}

}  // namespace
}  // namespace agentr
