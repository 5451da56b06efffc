#include "servers/webshop/posting_lists.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace agentr {
namespace {

// A block: width of the gaps, width of the counts, gaps - 1, counts - 1. Both runs of numbers begin
// at a byte.
constexpr size_t kHeader = 2;

size_t PackedBytes(size_t count, uint32_t width) { return (count * width + 7) / 8; }

// Bits from the lowest up.
void Pack(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out) {
  uint64_t bits = 0;
  uint32_t held = 0;
  for (const uint32_t value : values) {
    bits |= uint64_t{value} << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) out.push_back(static_cast<uint8_t>(bits));
  }
  if (held > 0) out.push_back(static_cast<uint8_t>(bits));
}

// May read, not use, seven bytes beyond the values: PostingLists::Finish puts them there.
void Unpack(const uint8_t* bytes, size_t count, uint32_t width, uint32_t* values) {
  static_assert(std::endian::native == std::endian::little);
  const uint64_t mask = (uint64_t{1} << width) - 1;
  size_t bit = 0;
  for (size_t i = 0; i < count; ++i, bit += width) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + (bit >> 3), sizeof word);
    values[i] = static_cast<uint32_t>((word >> (bit & 7)) & mask);
  }
}

uint32_t WidthOf(std::span<const uint32_t> values) {
  uint32_t all = 0;
  for (const uint32_t value : values) all |= value;
  return static_cast<uint32_t>(std::bit_width(all));
}

}  // namespace

uint32_t PostingLists::Append(std::span<const Posting> postings, int64_t previous,
                              float max_saturation) {
  assert(!postings.empty() && postings.size() <= kPostingsPerBlock);
  std::array<uint32_t, kPostingsPerBlock> gaps;
  std::array<uint32_t, kPostingsPerBlock> counts;
  const auto number = static_cast<uint32_t>(blocks_.size());
  blocks_.push_back(
      {postings.back().document, static_cast<uint32_t>(bytes_.size()), max_saturation});
  for (size_t i = 0; i < postings.size(); ++i) {
    assert(postings[i].document > previous && postings[i].count > 0);
    gaps[i] = static_cast<uint32_t>(postings[i].document - previous - 1);
    counts[i] = postings[i].count - 1;
    previous = postings[i].document;
  }
  const std::span<const uint32_t> used_gaps(gaps.data(), postings.size());
  const std::span<const uint32_t> used_counts(counts.data(), postings.size());
  bytes_.push_back(static_cast<uint8_t>(WidthOf(used_gaps)));
  bytes_.push_back(static_cast<uint8_t>(WidthOf(used_counts)));
  Pack(used_gaps, bytes_[bytes_.size() - 2], bytes_);
  Pack(used_counts, bytes_[blocks_.back().offset + 1], bytes_);
  return number;
}

void PostingLists::Finish() {
  bytes_.resize(bytes_.size() + sizeof(uint64_t));
  bytes_.shrink_to_fit();
  blocks_.shrink_to_fit();
}

void PostingLists::Documents(size_t block, size_t count, int64_t previous,
                             Values& documents) const {
  const uint8_t* const bytes = bytes_.data() + blocks_[block].offset;
  Unpack(bytes + kHeader, count, bytes[0], documents.data());
  auto document = static_cast<uint32_t>(previous);
  for (size_t i = 0; i < count; ++i) documents[i] = document += documents[i] + 1;
}

void PostingLists::Counts(size_t block, size_t count, Values& counts) const {
  const uint8_t* const bytes = bytes_.data() + blocks_[block].offset;
  Unpack(bytes + kHeader + PackedBytes(count, bytes[0]), count, bytes[1], counts.data());
  for (size_t i = 0; i < count; ++i) ++counts[i];
}

}  // namespace agentr
