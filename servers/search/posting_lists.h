// Which documents have a term, and how often: compressed, in blocks of 128 that can be skipped.
//
// A block holds its documents, as the gaps between them in as many bits as the largest one needs
// or, where they lie close, as one bit for each document that is or is not among them (looking one
// up then needs no decoding); and its counts, in as many bits as the largest one needs. Beside it
// stand its last document and its largest saturation (bm25.h), which bounds all its scores.
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

// One block, to be read while its PostingLists lives.
class BlockView {
 public:
  using Values = std::array<uint32_t, kPostingsPerBlock>;

  // `previous`: as in PostingLists::Append.
  BlockView(const uint8_t* bytes, size_t count, int64_t previous, uint32_t last);

  // The first `count` entries of the arrays become the block's.
  void Documents(Values& documents) const;
  void Counts(Values& counts) const;

  // Whether Find may be asked: the place of a document above `previous`, or kAbsent.
  static constexpr size_t kAbsent = SIZE_MAX;
  bool IsBitmap() const;
  size_t Find(uint32_t document) const;
  uint32_t Count(size_t place) const;

 private:
  const uint8_t* documents_;
  const uint8_t* counts_;
  uint32_t width_;  // of a gap, or the mark of a bitmap
  uint32_t count_width_;
  size_t count_;
  int64_t previous_;
};

// The lists of several terms. Below 4 GiB.
class PostingLists {
 public:
  // Adds a block; returns its number. `previous` is the last document of the block before it in the
  // same list, or -1. Numbers rise.
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
