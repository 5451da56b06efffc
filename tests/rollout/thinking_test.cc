#include "rollout/thinking.h"

#include <gmock/gmock.h>

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Thinking, OnlyAStrippedResponseLosesItsTokens) {
  Completion thought{"<think>a</think>\n\nAction: x\n", "stop", {1, 2}, {-1, -2}, 0, "apart"};
  for (const Thinking thinking : {Thinking::kContent, Thinking::kKeep, Thinking::kStripHistory}) {
    Completion kept = thought;
    StoreThought(thinking, kept);
    EXPECT_EQ(kept.text, thought.text);
    EXPECT_THAT(kept.token_ids, ElementsAre(1, 2));
    EXPECT_EQ(kept.reasoning, thinking == Thinking::kContent ? "" : "apart");
  }
  StoreThought(Thinking::kStrip, thought);
  EXPECT_EQ(thought.text, "Action: x");
  EXPECT_THAT(thought.token_ids, IsEmpty());
  EXPECT_THAT(thought.logprobs, IsEmpty());
  EXPECT_EQ(thought.reasoning, "");
  // A response without a thought stays to the byte.
  Completion plain{" Action: x\n", "stop", {1}, {-1}, 0, "apart"};
  StoreThought(Thinking::kStrip, plain);
  EXPECT_EQ(plain.text, " Action: x\n");
  EXPECT_THAT(plain.token_ids, ElementsAre(1));
}

TEST(Thinking, OfTheHistoryOnlyTheAssistantsThoughtsGo) {
  const std::vector<Message> talk = {{"user", "<think>u</think>go"},
                                     {"assistant", "<think>a</think>\n\nx"},
                                     {"user", "o"},
                                     {"assistant", "y", "apart"},
                                     {"assistant", " z "}};
  EXPECT_EQ(ShownHistory(Thinking::kKeep, talk), talk);
  std::vector<Message> shown = talk;
  shown[1].content = "x";
  shown[3].reasoning = "";
  EXPECT_EQ(ShownHistory(Thinking::kStripHistory, talk), shown);
  const std::vector<int32_t> ids = {1};
  const auto left = ShownIds(talk, {{}, ids, {}, ids, ids});
  EXPECT_THAT(left, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty(), ElementsAre(1)));
}

}  // namespace
}  // namespace agentr
