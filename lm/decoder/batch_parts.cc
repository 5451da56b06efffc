#include "lm/decoder/batch_parts.h"

#include <algorithm>

namespace agentr {

void BatchParts::Clear() {
  rows_ = 0;
  parts_.clear();
}

void BatchParts::Take(SequenceChunk& chunk, int64_t most_rows) {
  const size_t count = std::min<size_t>(chunk.tokens.size(), most_rows - rows_);
  const size_t later = chunk.tokens.size() - count;
  const int now = std::max(chunk.logits - static_cast<int>(later), 0);
  parts_.push_back({{chunk.tokens.first(count), chunk.start, chunk.blocks, now}, rows_});
  chunk.tokens = chunk.tokens.subspan(count);
  chunk.start += static_cast<int32_t>(count);
  chunk.logits -= now;
  rows_ += static_cast<int64_t>(count);
}

void BatchParts::Finish(int tile_tokens) {
  tiles_.clear();
  tokens_.clear();
  positions_.clear();
  wanted_.clear();
  for (const Part& part : parts_) {
    const SequenceChunk& chunk = part.chunk;
    const auto count = static_cast<int>(chunk.tokens.size());
    for (int first = 0; first < count; first += tile_tokens) {
      tiles_.push_back({&part, first, std::min(tile_tokens, count - first)});
    }
    tokens_.insert(tokens_.end(), chunk.tokens.begin(), chunk.tokens.end());
    for (int i = 0; i < count; ++i) positions_.push_back(chunk.start + i);
    for (int i = chunk.logits; i > 0; --i) wanted_.push_back(part.row + count - i);
  }
}

}  // namespace agentr
