#include <gmock/gmock.h>

#include <algorithm>

#include "mcts/mcts_collect.h"
#include "tasks/splits.h"

namespace agentr {
namespace {

using testing::Each;
using testing::SizeIs;

MctsCollectOptions TextCraft(int sample, uint64_t seed) {
  MctsCollectOptions options;
  options.environment.task = "textcraft";
  options.max = 544;
  options.sample = sample;
  options.search.seed = seed;
  return options;
}

TEST(TaskIds, ASampleIsOfTheSplitAndInOrder) {
  const std::vector<int> ids = TaskIds(TextCraft(50, 1), 544);
  EXPECT_THAT(ids, SizeIs(50));
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end()) << "no task twice";
  const Split& split = SplitOf("textcraft");
  EXPECT_THAT(ids, Each(testing::Truly([&](int id) { return !split.IsTest(id); })));
}

TEST(TaskIds, TheSeedDrawsTheSample) {
  EXPECT_EQ(TaskIds(TextCraft(50, 1), 544), TaskIds(TextCraft(50, 1), 544));
  EXPECT_NE(TaskIds(TextCraft(50, 1), 544), TaskIds(TextCraft(50, 2), 544));
}

TEST(TaskIds, ALargerSampleIsAll) {
  EXPECT_THAT(TaskIds(TextCraft(0, 1), 544), SizeIs(444));
  EXPECT_THAT(TaskIds(TextCraft(444, 1), 544), SizeIs(444));
  EXPECT_THAT(TaskIds(TextCraft(1000, 1), 544), SizeIs(444));
}

}  // namespace
}  // namespace agentr
