// The output projection and the cross-entropy as one step over chunks of rows, forward and backward
// at once: the logits of a chunk become their own gradient in place, and all logits never exist
// (Wijmans et al. 2025 and Liger Kernel, Hsu et al. 2024, have the same idea).
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <vector>

#include "training/data/batch.h"

namespace agentr {

constexpr size_t kTargetKinds = 4;

// Sums over targets, which add up over batches and processes.
struct LossSums {
  struct Part {
    double loss = 0;  // weight * -ln p
    double weight = 0;
    double correct = 0;  // weight of those that are the most likely token
  };
  std::array<Part, kTargetKinds> kinds;  // by TargetKind

  Part Total() const;
  LossSums& operator+=(const LossSums& other);
};

struct LossOptions {
  int64_t chunk_logits = int64_t{1} << 22;  // logits at once, at most; a row at least
};

// hidden [rows, width]: row i belongs to the i-th distinct index of `targets`. weight
// [vocabulary, width], in the same type. Where `dhidden` is defined, [rows, width], it becomes the
// gradient of factor * loss, and that of the weight is added to `dweight`, float32, where defined.
LossSums LinearCrossEntropy(const at::Tensor& hidden, const at::Tensor& weight,
                            const std::vector<Target>& targets, double factor,
                            const at::Tensor& dhidden, const at::Tensor& dweight,
                            const LossOptions& options = {});

}  // namespace agentr
