// Which documents have a term, and how often: compressed, in blocks of 128 that can be skipped.
//
// A block holds the gaps between its document numbers and its counts, each in as many bits as its
// largest one needs; beside it stand its last document and its largest saturation (bm25.h), which
// bounds all its scores.
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

// The lists of several terms. Below 4 GiB.
class PostingLists {
 public:
  // Adds a block; returns its number. `previous` is the last document of the block before it in the
  // same list, or -1. Numbers rise.
  uint32_t Append(std::span<const Posting> postings, int64_t previous, float max_saturation);

  // Call once after the last Append.
  void Finish();

  const PostingBlock& block(size_t number) const { return blocks_[number]; }

  // The first `count` entries of the arrays become the block's; `previous` as in Append.
  using Values = std::array<uint32_t, kPostingsPerBlock>;
  void Documents(size_t block, size_t count, int64_t previous, Values& documents) const;
  void Counts(size_t block, size_t count, Values& counts) const;

  size_t bytes() const { return bytes_.capacity() + blocks_.capacity() * sizeof(PostingBlock); }

 private:
  std::vector<PostingBlock> blocks_;
  std::vector<uint8_t> bytes_;
};

}  // namespace agentr
