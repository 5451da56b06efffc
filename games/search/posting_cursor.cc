#include "games/search/posting_cursor.h"

#include <algorithm>

namespace agentr {

PostingCursor::PostingCursor(const IndexData& data, const TermEntry& entry, float weight)
    : data_(data),
      entry_(entry),
      lists_(data.lists[entry.lists]),
      weight_(weight),
      blocks_((entry.count + kPostingsPerBlock - 1) / kPostingsPerBlock) {}

size_t PostingCursor::CountOf(size_t block) const {
  return std::min(kPostingsPerBlock, entry_.count - block * kPostingsPerBlock);
}

void PostingCursor::ReadDocuments(size_t block) {
  if (documents_of_ == block) return;
  View(block).Documents(documents_);
  documents_of_ = block;
}

void PostingCursor::ReadCounts(size_t block) {
  ReadDocuments(block);
  if (counts_of_ == block) return;
  View(block).Counts(counts_);
  counts_of_ = block;
}

float PostingCursor::MoveTo(uint32_t begin, uint32_t end) {
  begin_ = begin;
  end_ = end;
  while (first_ < blocks_ && Block(first_).last < begin) ++first_;
  sought_ = first_;
  if (first_ == blocks_ || FirstPossible(first_) >= end) return 0;
  float max_saturation = Block(first_).max_saturation;
  if (Block(first_).last >= end) {
    // The window is within one block, and often between two of its documents.
    ReadDocuments(first_);
    const auto documents = std::span(documents_).first(CountOf(first_));
    if (*std::ranges::lower_bound(documents, begin) >= end) return 0;
  }
  for (size_t block = first_ + 1; block < blocks_ && FirstPossible(block) < end; ++block) {
    max_saturation = std::max(max_saturation, Block(block).max_saturation);
  }
  return TermScore(weight_, max_saturation);
}

float PostingCursor::ScoreOf(uint32_t document) {
  if (Before(sought_) >= int64_t{document}) sought_ = first_;
  while (sought_ < blocks_ && Block(sought_).last < document) ++sought_;
  if (sought_ == blocks_) return 0;
  const BlockView view = View(sought_);
  if (view.IsBitmap()) {
    const size_t place = view.Find(document);
    return place == BlockView::kAbsent ? 0 : Score(document, view.Count(place));
  }
  ReadDocuments(sought_);
  const auto documents = std::span(documents_).first(CountOf(sought_));
  const auto found = std::ranges::lower_bound(documents, document);
  if (*found != document) return 0;
  return Score(document, view.Count(static_cast<size_t>(found - documents.begin())));
}

}  // namespace agentr
