#include "lm/decoder/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace agentr {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

uintptr_t Address(const AlignedBuffer& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data());
}

bool IsZero(const AlignedBuffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(AlignedBuffer, EachIsZeroedOnAPageOfItsOwn) {
  for (int round = 0; round < 2; ++round) {  // the second after the first one's were given back
    std::vector<AlignedBuffer> buffers;
    for (const size_t bytes :
         {size_t{1}, size_t{5000}, size_t{300'000}, kHugePage - 1, kHugePage}) {
      for (int i = 0; i < 12; ++i) buffers.emplace_back(bytes);
    }
    for (AlignedBuffer& buffer : buffers) {
      EXPECT_EQ(Address(buffer) % 4096, 0);
      EXPECT_TRUE(IsZero(buffer)) << buffer.size();
      std::memset(buffer.data(), 7, buffer.size());  // would be seen by one that overlaps
    }
  }
}

TEST(AlignedBuffer, ALargeOneBeginsWithAHugePage) {
  for (int i = 0; i < 4; ++i) {
    const AlignedBuffer buffer(kHugePage + 4096), small(4096);
    EXPECT_EQ(Address(buffer) % kHugePage, 0);
  }
}

TEST(AlignedBuffer, SmallOnesShareHugePages) {
  std::vector<AlignedBuffer> buffers;
  std::set<uintptr_t> huge_pages;
  for (int i = 0; i < 60; ++i) {
    buffers.emplace_back(300'000);
    huge_pages.insert(Address(buffers.back()) / kHugePage);
    huge_pages.insert((Address(buffers.back()) + 299'999) / kHugePage);
  }
  // 18 MB are nine of them; what others have taken before moves their beginning.
  EXPECT_LE(huge_pages.size(), 11);
}

TEST(AlignedBuffer, ItKeepsItsMemoryWhenOthersGoAndWhenItMoves) {
  AlignedBuffer kept;
  {
    AlignedBuffer before(1000), buffer(1000), behind(1000);
    std::memset(buffer.data(), 5, buffer.size());
    kept = std::move(buffer);
  }
  EXPECT_EQ(kept.size(), 1000);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept.data()[i], std::byte{5});
  const AlignedBuffer moved = std::move(kept);
  EXPECT_EQ(moved.data()[999], std::byte{5});
  EXPECT_EQ(kept.size(), 0);  // NOLINT(bugprone-use-after-move): a buffer that was moved is empty
}

}  // namespace
}  // namespace agentr
