// The output projection and the cross-entropy in one pass over chunks of rows, forward and backward
// together: the logits of a chunk are replaced by their gradient in place, so all logits never
// exist at once (the same idea: Wijmans et al. 2025; Liger Kernel, Hsu et al. 2024).
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <vector>

#include "training/data/batch.h"

namespace agentr {

constexpr size_t kTargetKinds = 4;

// Sums over targets, which can be added over batches and processes.
struct LossSums {
  struct Part {
    double loss = 0;  // weight * -ln p
    double weight = 0;
    double correct = 0;  // weight of the targets that are the most probable token
  };
  std::array<Part, kTargetKinds> kinds;  // by TargetKind

  Part Total() const;
  LossSums& operator+=(const LossSums& other);
};

struct LossOptions {
  int64_t chunk_logits = int64_t{1} << 23;  // largest number of logits at once,
  int64_t least_rows = 256;  // but at least those of so many rows: products of few are slow
};

// The weights of targets may be negative: then the loss makes the token less probable.
//
// hidden [rows, width]: row i belongs to the i-th distinct index of `targets`. weight [vocabulary,
// width], in the same type. If `dhidden` [rows, width] is defined, it becomes the gradient of
// factor * loss; if `dweight` (float32) is defined, the gradient of the weight is added to it.
LossSums LinearCrossEntropy(const at::Tensor& hidden, const at::Tensor& weight,
                            const std::vector<Target>& targets, double factor,
                            const at::Tensor& dhidden, const at::Tensor& dweight,
                            const LossOptions& options = {});

// ln p of each target, in their order, from the same hidden states.
std::vector<float> TargetLogProbs(const at::Tensor& hidden, const at::Tensor& weight,
                                  const std::vector<Target>& targets);

}  // namespace agentr
