#include "lm/decoder/batch_parts.h"

#include <algorithm>

namespace agentr {
namespace {

bool ShareMostBlocks(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto differ = std::ranges::mismatch(a, b);
  return static_cast<size_t>(differ.in1 - a.begin()) * 2 >= std::max(a.size(), b.size());
}

}  // namespace

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

void BatchParts::Finish(int tile_tokens, int shared_tokens) {
  tokens_.clear();
  positions_.clear();
  wanted_.clear();
  by_blocks_.clear();
  for (const Part& part : parts_) {
    const SequenceChunk& chunk = part.chunk;
    const auto count = static_cast<int>(chunk.tokens.size());
    tokens_.insert(tokens_.end(), chunk.tokens.begin(), chunk.tokens.end());
    for (int i = 0; i < count; ++i) positions_.push_back(chunk.start + i);
    for (int i = chunk.logits; i > 0; --i) wanted_.push_back(part.row + count - i);
    by_blocks_.push_back(&part);
  }
  std::ranges::sort(by_blocks_, [](const Part* a, const Part* b) {
    return std::ranges::lexicographical_compare(a->chunk.blocks, b->chunk.blocks);
  });
  MakeTiles(tile_tokens, shared_tokens);
}

void BatchParts::MakeTiles(int tile_tokens, int shared_tokens) {
  tiles_.clear();
  attended_.clear();
  attended_.reserve(rows_);  // the tiles point into it
  parts_are_whole_ = true;
  for (size_t first = 0, last = 0; first < by_blocks_.size(); first = last) {
    const auto joins = [&](const Part* part) {
      return part->chunk.tokens.size() == 1 && by_blocks_[last - 1]->chunk.tokens.size() == 1 &&
             ShareMostBlocks(by_blocks_[last - 1]->chunk.blocks, part->chunk.blocks);
    };
    last = first + 1;
    while (last < by_blocks_.size() && last - first < static_cast<size_t>(shared_tokens) &&
           joins(by_blocks_[last])) {
      ++last;
    }
    const std::span<const Part* const> parts = std::span(by_blocks_).subspan(first, last - first);
    const size_t begin = attended_.size();
    for (const Part* part : parts) {
      const auto count = static_cast<int32_t>(part->chunk.tokens.size());
      for (int32_t i = 0; i < count; ++i) {
        attended_.push_back({part->row + i, part->chunk.start + i, part->chunk.blocks.data()});
      }
    }
    const std::span<const Token> tokens = std::span(attended_).subspan(begin);
    for (size_t i = 0; i < tokens.size(); i += tile_tokens) {
      const size_t count = std::min<size_t>(tile_tokens, tokens.size() - i);
      tiles_.push_back({tokens.subspan(i, count), parts});
      parts_are_whole_ = parts_are_whole_ && count == tokens.size();
    }
  }
}

}  // namespace agentr
