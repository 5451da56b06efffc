#include "training/distributed/bucket_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "common/random.h"

namespace agentr {
namespace {

TEST(BucketPlan, StagesFollowTheBackwardPass) {
  EXPECT_EQ(StageOf("lm_head.weight", 12), 12);
  EXPECT_EQ(StageOf("model.norm.weight", 12), 12);
  EXPECT_EQ(StageOf("model.layers.11.mlp.up_proj.weight", 12), 11);
  EXPECT_EQ(StageOf("base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight", 12), 3);
  EXPECT_EQ(StageOf("model.embed_tokens.weight", 12), -1);
}

// Every block stands in one bucket, beside the others; spans hold all values; stages fall.
TEST(BucketPlan, EveryBlockHasItsPlace) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed);
    std::vector<Block> blocks = {{static_cast<int64_t>(1 + random.Below(3000)), -1}};
    const int layers = 1 + static_cast<int>(random.Below(6));
    for (int stage = 0; stage <= layers; ++stage) {
      for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
        blocks.push_back({static_cast<int64_t>(1 + random.Below(700)), stage});
      }
    }
    const int ranks = 1 + static_cast<int>(random.Below(9));
    const auto least = static_cast<int64_t>(random.Below(2000));
    std::set<size_t> placed;
    int last = layers + 1;
    for (const Bucket& bucket : PlanBuckets(blocks, ranks, least)) {
      EXPECT_LT(bucket.first, last);  // a stage is in one bucket
      last = bucket.last;
      int64_t end = 0;
      for (const auto& [block, begin] : bucket.blocks) {
        EXPECT_TRUE(placed.insert(block).second);
        EXPECT_EQ(begin, end);
        end += blocks[block].size;
        EXPECT_LE(blocks[block].stage, bucket.first);
        EXPECT_GE(blocks[block].stage, bucket.last);
      }
      EXPECT_GE(bucket.span * ranks, end);
      EXPECT_LT(bucket.span, end / ranks + 17);
      EXPECT_TRUE(bucket.last >= 0 || bucket.blocks.size() == 1);
    }
    EXPECT_EQ(placed.size(), blocks.size());
  }
}

}  // namespace
}  // namespace agentr
