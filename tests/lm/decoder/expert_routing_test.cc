#include "lm/decoder/expert_routing.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

namespace agentr {
namespace {

ModelConfig Config(bool normal) {
  ModelConfig config;
  config.experts = 4;
  config.token_experts = 2;
  config.normal_experts = normal;
  return config;
}

TEST(ExpertRouting, ChoosesTheHighestAndOfEqualOnesTheFirst) {
  const float logits[] = {1, 2, 2, -3};
  const float all = std::exp(-1.0f) + 1 + 1 + std::exp(-5.0f);
  for (const bool normal : {false, true}) {
    ExpertRouting routing(Config(normal), 1, 8);
    routing.Choose(0, logits);
    EXPECT_EQ(routing.choice(0, 0).expert, 1);
    EXPECT_EQ(routing.choice(0, 1).expert, 2);
    EXPECT_FLOAT_EQ(routing.choice(0, 0).weight, normal ? 0.5f : 1 / all);
  }
}

// Every choice has an entry of its own, which knows its row, and each expert's entries are
// neighbours.
TEST(ExpertRouting, EntriesLieInTheOrderOfTheExperts) {
  ExpertRouting routing(Config(false), 5, 2);
  const float rows[5][4] = {{9, 8, 0, 0}, {0, 9, 8, 0}, {9, 0, 8, 0}, {9, 8, 0, 0}, {8, 9, 0, 0}};
  for (int row = 0; row < 5; ++row) routing.Choose(row, rows[row]);
  routing.Sort(5);
  std::vector<int64_t> expert_of(10, -1);
  int64_t next = 0, before = 0;
  for (const ExpertRouting::Block& block : routing.blocks()) {
    EXPECT_EQ(block.entry, next);
    EXPECT_GE(block.expert, before);
    EXPECT_THAT(block.rows, ::testing::AllOf(::testing::Gt(0), ::testing::Le(2)));
    for (int i = 0; i < block.rows; ++i) expert_of[next++] = block.expert;
    before = block.expert;
  }
  EXPECT_EQ(next, 10);
  std::set<int64_t> entries;
  for (int row = 0; row < 5; ++row) {
    for (int k = 0; k < 2; ++k) {
      const ExpertRouting::Choice& choice = routing.choice(row, k);
      EXPECT_EQ(routing.row_of(choice.entry), row);
      EXPECT_EQ(expert_of[choice.entry], choice.expert);
      entries.insert(choice.entry);
    }
  }
  EXPECT_EQ(entries.size(), 10u);
}

TEST(ExpertRouting, ThereAreNoMoreBlocksThanAreSaidBefore) {
  for (const int block : {1, 2, 3, 7}) {
    ExpertRouting routing(Config(false), 9, block);
    for (int rows = 1; rows <= 9; ++rows) {
      for (int shift = 0; shift < 8; ++shift) {
        for (int row = 0; row < rows; ++row) {
          float logits[4] = {};
          logits[(row * shift + shift / 2) % 4] = 9;
          routing.Choose(row, logits);
        }
        routing.Sort(rows);
        EXPECT_LE(std::ssize(routing.blocks()), routing.MostBlocks(rows));
      }
    }
  }
  EXPECT_EQ(ExpertRouting(Config(false), 9, 7).MostBlocks(1), 2);
}

}  // namespace
}  // namespace agentr
