// Iterates over the postings of one query term, in increasing document numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "games/search/index_data.h"

namespace agentr {

class PostingCursor {
 public:
  PostingCursor(const IndexData& data, const TermEntry& entry, float weight);

  // Moves to the window of documents begin … end-1; returns a bound of their scores, 0 if none of
  // them has the term. `begin` must not decrease from call to call.
  float MoveTo(uint32_t begin, uint32_t end);

  // The score of a document in the window; 0 if it does not have the term.
  float ScoreOf(uint32_t document);

  // Calls visit(document, score) for the documents in the window that have the term.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (size_t block = first_; block < blocks_ && FirstPossible(block) < end_; ++block) {
      ReadCounts(block);
      const size_t count = CountOf(block);
      for (size_t i = 0; i < count; ++i) {
        const uint32_t document = documents_[i];
        if (document >= begin_ && document < end_) visit(document, Score(document, counts_[i]));
      }
    }
  }

  size_t count() const { return entry_.count; }

 private:
  static constexpr size_t kNoBlock = SIZE_MAX;

  const PostingBlock& Block(size_t block) const { return lists_.block(entry_.first_block + block); }
  int64_t Before(size_t block) const { return block == 0 ? -1 : int64_t{Block(block - 1).last}; }
  uint32_t FirstPossible(size_t block) const { return static_cast<uint32_t>(Before(block) + 1); }
  size_t CountOf(size_t block) const;
  BlockView View(size_t block) const {
    return lists_.View(entry_.first_block + block, CountOf(block), Before(block));
  }
  void ReadDocuments(size_t block);
  void ReadCounts(size_t block);
  float Score(uint32_t document, uint32_t count) const {
    return TermScore(weight_, data_.Saturation(document, count));
  }

  const IndexData& data_;
  TermEntry entry_;
  const PostingLists& lists_;
  float weight_;
  size_t blocks_;  // blocks of the list; block numbers here count from its first block
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  size_t first_ = 0;                // the block in which the window begins
  size_t sought_ = 0;               // the block of the last ScoreOf
  size_t documents_of_ = kNoBlock;  // the block whose documents are in the arrays
  size_t counts_of_ = kNoBlock;
  BlockView::Values documents_;
  BlockView::Values counts_;
};

}  // namespace agentr
