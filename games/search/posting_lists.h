// Stores which documents have a term and how often: compressed, in blocks of 128 that can be
// skipped.
//
// A block contains its documents and their counts. Documents are stored as gaps, with as many bits
// as the largest gap needs or, if they are close together, as a bitmap (which can be searched
// without decoding). Counts have as many bits as the largest count needs. For each block its last
// document and its largest saturation (bm25.h) are stored, which bounds all its scores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace agentr {

struct Posting {
  uint32_t document;
  uint32_t count;  // at least 1
};

inline constexpr size_t kPostingsPerBlock = 128;

struct PostingBlock {
  uint32_t last;         // document
  uint32_t offset;       // of its bytes
  float max_saturation;  // of its postings
};

// One block; valid while its PostingLists lives.
class BlockView {
 public:
  using Values = std::array<uint32_t, kPostingsPerBlock>;

  // `previous`: as in PostingLists::Append.
  BlockView(const uint8_t* bytes, size_t count, int64_t previous, uint32_t last);

  // They fill the first `count` entries of the arrays.
  void Documents(Values& documents) const;
  void Counts(Values& counts) const;

  // True if Find may be called. Find returns the index of a document above `previous`, or kAbsent.
  static constexpr size_t kAbsent = SIZE_MAX;
  bool IsBitmap() const;
  size_t Find(uint32_t document) const;
  uint32_t Count(size_t place) const;

 private:
  const uint8_t* documents_;
  const uint8_t* counts_;
  uint32_t width_;  // bits of a gap, or the mark of a bitmap
  uint32_t count_width_;
  size_t count_;
  int64_t previous_;
};

// The lists of several terms, of less than 4 GiB.
class PostingLists {
 public:
  // Adds a block; returns its number. `previous` is the last document of the previous block in the
  // same list, or -1. Document numbers increase.
  uint32_t Append(std::span<const Posting> postings, int64_t previous, float max_saturation);

  // Call once after the last Append.
  void Finish();

  const PostingBlock& block(size_t number) const { return blocks_[number]; }
  BlockView View(size_t number, size_t count, int64_t previous) const {
    const PostingBlock& block = blocks_[number];
    return {bytes_.data() + block.offset, count, previous, block.last};
  }

  size_t bytes() const { return bytes_.capacity() + blocks_.capacity() * sizeof(PostingBlock); }

 private:
  std::vector<PostingBlock> blocks_;
  std::vector<uint8_t> bytes_;
};

}  // namespace agentr
