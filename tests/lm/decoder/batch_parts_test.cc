#include "lm/decoder/batch_parts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace agentr {
namespace {

// A chunk whose tokens are at the end of the positions of its blocks (32 each).
SequenceChunk Chunk(const std::vector<int32_t>& blocks, const std::vector<int32_t>& tokens) {
  const auto start = static_cast<int32_t>(blocks.size() * 32 - tokens.size());
  return {tokens, start, blocks, 1};
}

// The rows of each tile.
std::vector<std::vector<int64_t>> Rows(const BatchParts& batch) {
  std::vector<std::vector<int64_t>> rows;
  for (const BatchParts::Tile& tile : batch.tiles()) {
    rows.emplace_back();
    for (const BatchParts::Token& token : tile.tokens) rows.back().push_back(token.row);
  }
  return rows;
}

TEST(BatchPartsTest, TokensThatShareMostBlocksAreInOneTile) {
  const std::vector<int32_t> one = {5}, a = {3, 1, 8, 9}, b = {7, 2}, c = {3, 1, 6}, d = {3, 4, 10},
                             e = {3, 1, 8, 11};
  BatchParts batch;
  for (const std::vector<int32_t>* blocks : {&a, &b, &c, &d, &e}) {
    SequenceChunk chunk = Chunk(*blocks, one);
    batch.Take(chunk, 100);
  }
  batch.Finish(/*tile_tokens=*/8, /*shared_tokens=*/8);
  // c, a and e share two of at most four blocks; d shares only the first with them.
  EXPECT_EQ(Rows(batch), (std::vector<std::vector<int64_t>>{{2, 0, 4}, {3}, {1}}));
  EXPECT_TRUE(batch.parts_are_whole());
  EXPECT_EQ(batch.tiles()[0].parts.size(), 3U);
  EXPECT_EQ(batch.tiles()[0].tokens[1].position, 127);
  EXPECT_EQ(batch.tiles()[0].tokens[1].blocks, a.data());
  EXPECT_EQ(batch.wanted(), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  batch.Finish(/*tile_tokens=*/8, /*shared_tokens=*/2);
  EXPECT_EQ(Rows(batch), (std::vector<std::vector<int64_t>>{{2, 0}, {4}, {3}, {1}}));
}

TEST(BatchPartsTest, ALongPartIsInTilesOfItsOwn) {
  const std::vector<int32_t> five = {1, 2, 3, 4, 5}, one = {6}, blocks = {0, 1}, same = {0, 2};
  BatchParts batch;
  SequenceChunk longer = Chunk(blocks, five), single = Chunk(same, one);
  batch.Take(longer, 100);
  batch.Take(single, 100);
  batch.Finish(/*tile_tokens=*/2, /*shared_tokens=*/2);
  EXPECT_EQ(Rows(batch), (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}, {4}, {5}}));
  EXPECT_FALSE(batch.parts_are_whole());
  EXPECT_EQ(batch.tiles()[2].tokens[0].position, 63);
}

}  // namespace
}  // namespace agentr
