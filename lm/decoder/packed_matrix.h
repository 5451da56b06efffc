// The weight matrix of a linear layer in the layout of the CPU kernels, in the type of its weights.
//
// The kernels read panels of neighbouring outputs, one input after the other (kernels.h), so a
// product with any number of rows reads the matrix once from front to back. A matrix may join
// several layers with the same inputs, also of different types.
#pragma once

#include <optional>
#include <vector>

#include "lm/decoder/aligned_buffer.h"
#include "lm/decoder/left_rows.h"
#include "lm/decoder/model_weights.h"
#include "lm/decoder/thread_team.h"
#include "lm/kernels/kernels.h"

namespace agentr {

class PackedMatrix {
 public:
  // Stores the concatenated outputs of `parts`, which all have the same inputs. `as`: the type of
  // each part in memory (TypeInMemory). Reuses its memory if sizes and types are unchanged.
  void Pack(const std::vector<LinearWeights>& parts, std::optional<WeightType> as,
            const Kernels& kernels, ThreadTeam& team);

  LeftForms forms() const;  // that Multiply needs

  // Slices of kSlice outputs, by which threads share a product.
  int64_t slices() const { return static_cast<int64_t>(slices_.size()); }
  int64_t FirstOutput(int64_t slice) const { return slices_[slice].output; }

  // to (+)= from[first … first + count - 1] weightᵀ + bias for the outputs of a slice. `to` is the
  // place of the slice's first output in the first row; up to kSlice columns are written.
  void Multiply(const LeftRows& from, int64_t first, int count, int64_t slice, float* to,
                int64_t stride, bool add) const;

 private:
  // Neighbouring outputs of one type.
  struct Section {
    WeightType type = WeightType::kF32;
    int64_t outputs = 0;
    int64_t panel_bytes = 0;  // of a panel of `panel` outputs
    int panel = 0;
    AlignedBuffer data;
  };
  struct Slice {
    size_t section = 0;
    int64_t output = 0;    // of the matrix
    int64_t within = 0;    // the same in its section
    int columns = kSlice;  // that may be written
  };

  void PackSection(const std::vector<LinearWeights>& parts, size_t first, size_t end,
                   Section& section, ThreadTeam& team);
  void MakeSlices();
  void MultiplyColumns(const LeftRows& from, int64_t first, int count, const Slice& slice,
                       int columns, float* to, int64_t stride, bool add) const;

  const Kernels* kernels_ = nullptr;
  int64_t inputs_ = 0;
  std::vector<Section> sections_;
  std::vector<Slice> slices_;
  std::vector<float> bias_;  // padded to whole slices; empty: none
};

// The type in which the decoder keeps a matrix with so many inputs: `as`, or that of its file. A
// quantised file stays as it is unless `as` is a type of numbers; a matrix whose inputs are no
// whole blocks of `as` becomes bfloat16.
WeightType TypeInMemory(const Weight& weight, std::optional<WeightType> as);

}  // namespace agentr
