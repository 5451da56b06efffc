#include "games/search/posting_lists.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace agentr {
namespace {

// A block: width of the gaps (or kBitmap), width of the counts, gaps - 1 (or bits), counts - 1.
// Both sequences begin at a byte boundary.
constexpr size_t kHeader = 2;
constexpr uint8_t kBitmap = 0xFF;

// The largest bitmap in bits per document: it takes at most about 9 more bits than gaps would.
constexpr uint64_t kMaxBitsPerDocument = 16;

size_t PackedBytes(size_t count, uint32_t width) { return (count * width + 7) / 8; }

// Bits are filled from the lowest to the highest.
void Pack(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out) {
  uint64_t bits = 0;
  uint32_t held = 0;
  for (const uint32_t value : values) {
    bits |= uint64_t{value} << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) out.push_back(static_cast<uint8_t>(bits));
  }
  if (held > 0) out.push_back(static_cast<uint8_t>(bits));
}

uint64_t LoadWord(const uint8_t* bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// It may read, but does not use, seven bytes beyond the values: PostingLists::Finish appends them.
void Unpack(const uint8_t* bytes, size_t count, uint32_t width, uint32_t* values) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  size_t bit = 0;
  for (size_t i = 0; i < count; ++i, bit += width) {
    values[i] = static_cast<uint32_t>((LoadWord(bytes + (bit >> 3)) >> (bit & 7)) & mask);
  }
}

uint32_t WidthOf(std::span<const uint32_t> values) {
  uint32_t all = 0;
  for (const uint32_t value : values) all |= value;
  return static_cast<uint32_t>(std::bit_width(all));
}

void PackBits(std::span<const Posting> postings, int64_t previous, std::vector<uint8_t>& out) {
  const size_t begin = out.size();
  out.resize(begin + PackedBytes(static_cast<size_t>(postings.back().document - previous), 1));
  for (const Posting& posting : postings) {
    const auto bit = static_cast<size_t>(posting.document - previous - 1);
    out[begin + bit / 8] |= static_cast<uint8_t>(1U << (bit % 8));
  }
}

}  // namespace

BlockView::BlockView(const uint8_t* bytes, size_t count, int64_t previous, uint32_t last)
    : documents_(bytes + kHeader),
      width_(bytes[0]),
      count_width_(bytes[1]),
      count_(count),
      previous_(previous) {
  counts_ = documents_ + (IsBitmap() ? PackedBytes(static_cast<size_t>(last - previous), 1)
                                     : PackedBytes(count, width_));
}

bool BlockView::IsBitmap() const { return width_ == kBitmap; }

void BlockView::Documents(Values& documents) const {
  auto document = static_cast<uint32_t>(previous_);
  if (!IsBitmap()) {
    Unpack(documents_, count_, width_, documents.data());
    for (size_t i = 0; i < count_; ++i) documents[i] = document += documents[i] + 1;
    return;
  }
  ++document;
  // The bits after the last document belong to another block, but they are never reached.
  for (size_t found = 0, byte = 0; found < count_; byte += 8, document += 64) {
    uint64_t bits = LoadWord(documents_ + byte);
    for (; bits != 0 && found < count_; bits &= bits - 1) {
      documents[found++] = document + static_cast<uint32_t>(std::countr_zero(bits));
    }
  }
}

void BlockView::Counts(Values& counts) const {
  Unpack(counts_, count_, count_width_, counts.data());
  for (size_t i = 0; i < count_; ++i) ++counts[i];
}

size_t BlockView::Find(uint32_t document) const {
  const auto bit = static_cast<size_t>(document - previous_ - 1);
  const size_t whole = bit / 64 * 8;  // bytes
  const uint64_t word = LoadWord(documents_ + whole);
  if ((word >> (bit % 64) & 1) == 0) return kAbsent;
  auto place = static_cast<size_t>(std::popcount(word & ((uint64_t{1} << (bit % 64)) - 1)));
  for (size_t byte = 0; byte < whole; byte += 8) {
    place += static_cast<size_t>(std::popcount(LoadWord(documents_ + byte)));
  }
  return place;
}

uint32_t BlockView::Count(size_t place) const {
  const size_t bit = place * count_width_;
  const uint64_t mask = (uint64_t{1} << count_width_) - 1;
  return static_cast<uint32_t>((LoadWord(counts_ + (bit >> 3)) >> (bit & 7)) & mask) + 1;
}

uint32_t PostingLists::Append(std::span<const Posting> postings, int64_t previous,
                              float max_saturation) {
  assert(!postings.empty() && postings.size() <= kPostingsPerBlock);
  std::array<uint32_t, kPostingsPerBlock> gaps;
  std::array<uint32_t, kPostingsPerBlock> counts;
  const uint32_t last = postings.back().document;
  blocks_.push_back({last, static_cast<uint32_t>(bytes_.size()), max_saturation});
  for (int64_t before = previous; const Posting& posting : postings) {
    const auto i = static_cast<size_t>(&posting - postings.data());
    assert(posting.document > before && posting.count > 0);
    gaps[i] = static_cast<uint32_t>(posting.document - before - 1);
    counts[i] = posting.count - 1;
    before = posting.document;
  }
  const std::span<const uint32_t> used_gaps(gaps.data(), postings.size());
  const std::span<const uint32_t> used_counts(counts.data(), postings.size());
  const bool close =
      static_cast<uint64_t>(last - previous) <= kMaxBitsPerDocument * postings.size();
  const uint32_t width = WidthOf(used_gaps);
  const uint32_t count_width = WidthOf(used_counts);
  bytes_.push_back(close ? kBitmap : static_cast<uint8_t>(width));
  bytes_.push_back(static_cast<uint8_t>(count_width));
  if (close) {
    PackBits(postings, previous, bytes_);
  } else {
    Pack(used_gaps, width, bytes_);
  }
  Pack(used_counts, count_width, bytes_);
  return static_cast<uint32_t>(blocks_.size() - 1);
}

void PostingLists::Finish() {
  bytes_.resize(bytes_.size() + sizeof(uint64_t));
  bytes_.shrink_to_fit();
  blocks_.shrink_to_fit();
}

}  // namespace agentr
