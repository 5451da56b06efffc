// Sequences over a Decoder as a caller keeps them: blocks out of order, several at once.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/random.h"
#include "lm/decoder/decoder.h"

namespace agentr {

// Hands out blocks of a decoder for `tokens` positions, each once, in random order.
class BlockSource {
 public:
  explicit BlockSource(const Decoder& decoder, int32_t tokens = 5000)
      : block_tokens_(decoder.shape().block_tokens) {
    blocks_.resize(std::min(decoder.shape().blocks, tokens / block_tokens_));
    std::iota(blocks_.begin(), blocks_.end(), 0);
    RandomStream(5).Shuffle(blocks_);
  }
  int32_t Take() {
    const int32_t block = blocks_.back();
    blocks_.pop_back();
    return block;
  }
  int32_t block_tokens() const { return block_tokens_; }

 private:
  int32_t block_tokens_;
  std::vector<int32_t> blocks_;
};

// One sequence. Next() is the chunk of the tokens that are not computed yet.
struct PagedText {
  std::vector<int32_t> tokens;
  std::vector<int32_t> blocks;
  int32_t computed = 0;

  // At most `most` tokens of those not computed; asks for the logits of the last `logits`.
  SequenceChunk Next(BlockSource& source, int32_t logits = 1, int32_t most = 1 << 30) {
    const int32_t count = std::min(static_cast<int32_t>(tokens.size()) - computed, most);
    const int32_t size = source.block_tokens();
    while (static_cast<int32_t>(blocks.size()) * size < computed + count) {
      blocks.push_back(source.Take());
    }
    const SequenceChunk chunk{std::span(tokens).subspan(computed, count), computed, blocks, logits};
    computed += count;
    return chunk;
  }
};

// The logits of every token of a text in one call.
inline std::vector<float> AllLogits(Decoder& decoder, const std::vector<int32_t>& tokens) {
  BlockSource source(decoder);
  PagedText text{tokens, {}, 0};
  const SequenceChunk chunk = text.Next(source, static_cast<int32_t>(tokens.size()));
  const auto logits = decoder.Forward(std::span(&chunk, 1));
  return {logits.begin(), logits.end()};
}

inline int32_t Highest(std::span<const float> row) {
  return static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
}

}  // namespace agentr
