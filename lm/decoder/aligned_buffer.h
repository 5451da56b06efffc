// Zeroed, page-aligned memory, in huge pages if the system has them: otherwise reading a matrix row
// by row would miss the TLB every few vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace agentr {

// Buffers smaller than a huge page share some: the matrices of a small model are.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes);  // throws std::bad_alloc
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_.get(); }
  size_t size() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_;  // keeps what it shares, too
  size_t bytes_ = 0;
};

}  // namespace agentr
