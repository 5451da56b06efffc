// The weight matrix of a linear layer as the CPU kernels read it: in panels of 64 outputs.
//
// Panel p holds outputs 64 p … 64 p + 63, for each input one after the other (see MatrixProduct in
// cpu_kernels.h): a product of any number of rows reads it once, front to back.
#pragma once

#include <vector>

#include "lm/decoder/aligned_buffer.h"
#include "lm/decoder/model_weights.h"
#include "lm/decoder/thread_team.h"

namespace agentr {

class PackedMatrix {
 public:
  static constexpr int kPanel = 64;

  // Becomes the outputs of `parts`, one below the other, all with the same inputs, as `type`. A
  // matrix of the same size and type as before stays in the memory that it has.
  void Pack(const std::vector<LinearWeights>& parts, WeightType type, ThreadTeam& team);

  WeightType type() const { return type_; }
  int64_t inputs() const { return inputs_; }    // even with bfloat16; padded with zeros
  int64_t outputs() const { return outputs_; }  // without padding
  int64_t panels() const { return (outputs_ + kPanel - 1) / kPanel; }
  const std::byte* Panel(int64_t index) const { return data_.data() + index * panel_bytes_; }
  // Of all outputs, padded to whole panels; null: none.
  const float* bias() const { return bias_.empty() ? nullptr : bias_.data(); }

 private:
  WeightType type_ = WeightType::kF32;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  int64_t panel_bytes_ = 0;
  AlignedBuffer data_;
  std::vector<float> bias_;
};

// `count` values of `weight` from the one at `offset`, as float32.
void ReadWeight(const Weight& weight, int64_t offset, int64_t count, float* to);

}  // namespace agentr
