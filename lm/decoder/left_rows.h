// Rows of activations that the CPU decoder keeps between its steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lm/decoder/aligned_buffer.h"
#include "lm/kernels/kernels.h"

namespace agentr {

// Outputs of a matrix that a thread computes at once (packed_matrix.h).
constexpr int kSlice = 64;

// Columns rounded up to whole slices.
constexpr int64_t Padded(int64_t columns) { return (columns + kSlice - 1) / kSlice * kSlice; }

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

// How the left side of a product must be, by the types of the weights.
struct LeftForms {
  bool wide = false;     // float32: for F32 and F16
  bool rounded = false;  // bfloat16: for BF16
  bool blocks = false;   // bytes with scales: for quantised types

  static LeftForms Of(WeightType type) {
    return {type == WeightType::kF32 || type == WeightType::kF16, type == WeightType::kBF16,
            IsQuantised(type)};
  }
  LeftForms operator|(const LeftForms& other) const {
    return {wide || other.wide, rounded || other.rounded, blocks || other.blocks};
  }
};

// Rows for the left side of products, in every form that the weights need.
class LeftRows {
 public:
  LeftRows(int64_t rows, int64_t columns, LeftForms forms, const Kernels& kernels)
      : kernels_(&kernels),
        stride_(Padded(columns)),
        wide_(forms.wide ? rows * stride_ * sizeof(float) : 0),
        rounded_(forms.rounded ? rows * stride_ * kernels.bf16_left_bytes : 0),
        blocks_(forms.blocks ? rows * stride_ / kLeftBlock * sizeof(LeftBlock) : 0) {}

  int64_t stride() const { return stride_; }

  // Writes `count` values of a row. With blocks, `column` is a multiple of kLeftBlock, and so is
  // `count`, except at the row's end.
  void Put(int64_t row, int64_t column, const float* values, int count) {
    const int64_t at = row * stride_ + column;
    if (wide_.size() > 0) std::memcpy(Wide() + at, values, count * sizeof(float));
    if (rounded_.size() > 0) {
      kernels_->round_left(values, count, rounded_.data() + at * kernels_->bf16_left_bytes);
    }
    if (blocks_.size() > 0) kernels_->quantise_left(values, count, Blocks() + at / kLeftBlock);
  }

  // The rows from `row` on, in the form for weights of a type that is not quantised.
  const void* Row(int64_t row, WeightType type) const {
    if (type != WeightType::kBF16) return Wide() + row * stride_;
    return rounded_.data() + row * stride_ * kernels_->bf16_left_bytes;
  }
  const LeftBlock* BlocksOf(int64_t row) const { return Blocks() + row * stride_ / kLeftBlock; }

 private:
  float* Wide() const { return reinterpret_cast<float*>(wide_.data()); }
  LeftBlock* Blocks() const { return reinterpret_cast<LeftBlock*>(blocks_.data()); }

  const Kernels* kernels_;
  int64_t stride_;
  AlignedBuffer wide_, rounded_, blocks_;
};

}  // namespace agentr
