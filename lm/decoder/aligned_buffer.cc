#include "lm/decoder/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <new>

namespace agentr {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kShared = 8 * kHugePage;  // of which small buffers take pieces

// Begins with a huge page. Only what is written takes memory.
std::shared_ptr<std::byte> Map(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  void* const memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const size_t before = kHugePage - reinterpret_cast<uintptr_t>(memory) % kHugePage;
  std::byte* const data = static_cast<std::byte*>(memory) + before % kHugePage;
  ::madvise(data, bytes, MADV_HUGEPAGE);
  return {data, [memory, mapped](std::byte*) { ::munmap(memory, mapped); }};
}

// No piece is given twice, so that all are zeroed. The memory goes with the last of its buffers.
std::shared_ptr<std::byte> TakePiece(size_t bytes) {
  static std::mutex mutex;
  static std::weak_ptr<std::byte> shared;
  static size_t taken = 0;
  const std::lock_guard lock(mutex);
  std::shared_ptr<std::byte> whole = shared.lock();
  if (whole == nullptr || taken + bytes > kShared) {
    whole = Map(kShared);
    shared = whole;
    taken = 0;
  }
  std::byte* const piece = whole.get() + std::exchange(taken, taken + bytes);
  return {std::move(whole), piece};
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  data_ = bytes < kHugePage ? TakePiece((bytes + kPage - 1) / kPage * kPage) : Map(bytes);
}

}  // namespace agentr
