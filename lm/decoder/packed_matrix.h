// The weight matrix of a linear layer in the layout of the CPU kernels: panels of 64 outputs.
//
// Panel p holds the outputs 64 p … 64 p + 63 for one input after the other (see MatrixProduct in
// cpu_kernels.h), so a product with any number of rows reads it once from front to back.
#pragma once

#include <vector>

#include "lm/decoder/aligned_buffer.h"
#include "lm/decoder/model_weights.h"
#include "lm/decoder/thread_team.h"

namespace agentr {

class PackedMatrix {
 public:
  static constexpr int kPanel = 64;

  // Stores the concatenated outputs of `parts`, which all have the same inputs, as `type`. Reuses
  // its memory if size and type are unchanged.
  void Pack(const std::vector<LinearWeights>& parts, WeightType type, ThreadTeam& team);

  WeightType type() const { return type_; }
  int64_t inputs() const { return inputs_; }    // even with bfloat16; padded with zeros
  int64_t outputs() const { return outputs_; }  // without padding
  int64_t panels() const { return (outputs_ + kPanel - 1) / kPanel; }
  const std::byte* Panel(int64_t index) const { return data_.data() + index * panel_bytes_; }
  // The biases of all outputs, padded to whole panels; null if there are none.
  const float* bias() const { return bias_.empty() ? nullptr : bias_.data(); }

 private:
  WeightType type_ = WeightType::kF32;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  int64_t panel_bytes_ = 0;
  AlignedBuffer data_;
  std::vector<float> bias_;
};

// Reads `count` values of `weight`, beginning at `offset`, as float32.
void ReadWeight(const Weight& weight, int64_t offset, int64_t count, float* to);

}  // namespace agentr
