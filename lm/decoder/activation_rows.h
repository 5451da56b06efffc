// Rows of activations that the CPU decoder keeps between its steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lm/decoder/aligned_buffer.h"
#include "lm/decoder/cpu_kernels.h"
#include "lm/decoder/packed_matrix.h"

namespace agentr {

// Columns rounded up to whole panels of the matrices (packed_matrix.h).
inline int64_t Padded(int64_t columns) {
  return (columns + PackedMatrix::kPanel - 1) / PackedMatrix::kPanel * PackedMatrix::kPanel;
}

// Rows of activations, padded with zeros to Padded(columns).
class ActivationRows {
 public:
  ActivationRows(int64_t rows, int64_t columns)
      : stride_(Padded(columns)), data_(rows * stride_ * sizeof(float)) {}
  int64_t stride() const { return stride_; }
  float* operator[](int64_t row) const {
    return reinterpret_cast<float*>(data_.data()) + row * stride_;
  }

 private:
  int64_t stride_;
  AlignedBuffer data_;
};

// Rows for the left side of a product: bfloat16 if the model is, else float32.
class LeftRows {
 public:
  LeftRows(int64_t rows, int64_t columns, WeightType type, const CpuKernels& kernels)
      : narrow_(type == WeightType::kBF16 ? kernels.narrow : nullptr),
        value_bytes_(narrow_ != nullptr ? 2 : 4),
        stride_(Padded(columns)),
        data_(rows * stride_ * value_bytes_) {}
  int64_t stride() const { return stride_; }
  const void* operator[](int64_t row) const { return At(row, 0); }

  void Put(int64_t row, int64_t column, const float* values, int count) {
    if (narrow_ != nullptr) {
      narrow_(values, count, reinterpret_cast<uint16_t*>(At(row, column)));
    } else {
      std::memcpy(At(row, column), values, count * sizeof(float));
    }
  }

 private:
  std::byte* At(int64_t row, int64_t column) const {
    return data_.data() + (row * stride_ + column) * value_bytes_;
  }

  void (*narrow_)(const float*, int, uint16_t*);
  int64_t value_bytes_;
  int64_t stride_;
  AlignedBuffer data_;
};

}  // namespace agentr
