#include "revision/row_draft.h"

#include <gmock/gmock.h>

#include "rows/token_row.h"
#include "tests/revision/hand_tree.h"
#include "tests/revision/pair_encoder.h"

namespace agentr {
namespace {

class FitRowTest : public ::testing::TestWithParam<bool> {
 protected:
  RowDraft MakeRow() const {
    const PathPair pair = PairPaths(tree_, LeafPaths(tree_), {}, Pairing::kAll).front();
    const FirstError error = {1, true, {{pair.bad.leaf, {Judgement::kBad, "No use.", true}}}};
    return HandRow(source_, pair, error);
  }
  int64_t Length(size_t dropped) const {
    RowDraft row = MakeRow();
    row.trajectory.dropped_turns = dropped;
    return std::ssize(EncodeRow(MessagesOf(row), encoder_)->ids);
  }

  const Tree plain_ = HandTree({{"p q r s t u g", 1}, {"p q r s t u a", 0}});
  const Tree tree_ = GetParam() ? WithTokens(plain_) : plain_;  // sampled: other tokens, and more
  const RowSource source_{tree_, "tree.json", "toy", 3, "hand", 7, {}, "tree", "all"};
  const PairEncoder encoder_;
};

TEST_P(FitRowTest, LeavesOutAsFewTurnsAsItTakesByTheEncodersCount) {
  constexpr size_t kPrefix = 6;
  for (size_t dropped = 0; dropped <= kPrefix; ++dropped) {
    RowDraft row = MakeRow();
    EXPECT_TRUE(FitRow(row, 0, Length(dropped), &encoder_));
    EXPECT_EQ(row.trajectory.dropped_turns, dropped) << "the row is exactly as long as allowed";
    RowDraft tighter = MakeRow();
    EXPECT_EQ(FitRow(tighter, 0, Length(dropped) - 1, &encoder_), dropped < kPrefix);
    EXPECT_EQ(tighter.trajectory.dropped_turns, std::min(dropped + 1, kPrefix));
  }
}

TEST_P(FitRowTest, TheTurnsThatTheModelDidNotSeeStayOut) {
  RowDraft row = MakeRow();
  EXPECT_TRUE(FitRow(row, 3, Length(0), &encoder_));
  EXPECT_EQ(row.trajectory.dropped_turns, 3U);
  EXPECT_TRUE(FitRow(row, 2, 0, &encoder_)) << "no limit";
  EXPECT_EQ(row.trajectory.dropped_turns, 2U);
}

TEST_P(FitRowTest, WithoutAnEncoderTheLengthIsEstimated) {
  RowDraft row = MakeRow();
  int64_t estimate = 0;
  for (const RowMessage& m : RowMessages(row.trajectory)) estimate += EstimateTokens(*m.content);
  EXPECT_TRUE(FitRow(row, 0, estimate, nullptr));
  EXPECT_EQ(row.trajectory.dropped_turns, 0U);
  EXPECT_TRUE(FitRow(row, 0, estimate - 1, nullptr));
  EXPECT_EQ(row.trajectory.dropped_turns, 1U);
}

INSTANTIATE_TEST_SUITE_P(Tokens, FitRowTest, ::testing::Bool());

}  // namespace
}  // namespace agentr
