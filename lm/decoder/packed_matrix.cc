#include "lm/decoder/packed_matrix.h"

#include <algorithm>

#include "lm/kernels/block_panels.h"
#include "lm/weights/half.h"
#include "lm/weights/mapped_file.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace {

// Stores input k of output `c` of a panel.
void Put(WeightType type, int64_t panel, std::byte* to, int64_t k, int64_t c, float value) {
  if (type == WeightType::kF32) {
    reinterpret_cast<float*>(to)[k * panel + c] = value;
  } else if (type == WeightType::kF16) {
    reinterpret_cast<uint16_t*>(to)[k * panel + c] = ToF16(value);
  } else {
    reinterpret_cast<uint16_t*>(to)[(k / 2 * panel + c) * 2 + k % 2] = ToBf16(value);
  }
}

// The outputs of a section, wherever their weights are.
class SectionRows {
 public:
  SectionRows(const std::vector<LinearWeights>& parts, size_t first, size_t end, int64_t inputs)
      : inputs_(inputs) {
    for (size_t p = first; p < end; ++p) {
      for (int64_t i = 0; i < parts[p].weight->shape[0]; ++i) {
        rows_.push_back({parts[p].weight, i});
      }
    }
  }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  void Read(int64_t row, float* to) const {
    ReadWeight(*rows_[row].weight, rows_[row].index * inputs_, inputs_, to);
  }

  // Its quantised weights: those of the file, or made in `memory`.
  const std::byte* Blocks(int64_t row, WeightType type, std::vector<float>& values,
                          std::vector<std::byte>& memory) const {
    const Weight& weight = *rows_[row].weight;
    if (weight.type == type) {
      return weight.data.data() + BytesOf(type, rows_[row].index * inputs_);
    }
    Read(row, values.data());
    memory.resize(BytesOf(type, inputs_));
    Quantise(type, values.data(), inputs_, memory.data());
    return memory.data();
  }

 private:
  struct Row {
    const Weight* weight;
    int64_t index;
  };
  const int64_t inputs_;
  std::vector<Row> rows_;
};

}  // namespace

WeightType TypeInMemory(const Weight& weight, std::optional<WeightType> as) {
  if (!as || (IsQuantised(*as) && IsQuantised(weight.type))) return weight.type;
  return weight.shape.back() % BlockOf(*as).values == 0 ? *as : WeightType::kBF16;
}

void PackedMatrix::Pack(const std::vector<LinearWeights>& parts, std::optional<WeightType> as,
                        const Kernels& kernels, ThreadTeam& team) {
  kernels_ = &kernels;
  inputs_ = parts[0].weight->shape[1];
  int64_t outputs = 0;
  size_t index = 0;
  for (size_t first = 0, end = 0; first < parts.size(); first = end, ++index) {
    const WeightType type = TypeInMemory(*parts[first].weight, as);
    while (end < parts.size() && TypeInMemory(*parts[end].weight, as) == type) ++end;
    if (index == sections_.size()) sections_.emplace_back();
    sections_[index].type = type;
    PackSection(parts, first, end, sections_[index], team);
    outputs += sections_[index].outputs;
  }
  sections_.resize(index);
  MakeSlices();
  // The configuration decides whether there is a bias, so a Load cannot change it.
  if (parts[0].bias == nullptr) return;
  bias_.resize(Padded(outputs));
  float* bias = bias_.data();
  for (const LinearWeights& part : parts) {
    ReadWeight(*part.bias, 0, part.bias->shape[0], bias);
    bias += part.bias->shape[0];
  }
}

void PackedMatrix::PackSection(const std::vector<LinearWeights>& parts, size_t first, size_t end,
                               Section& section, ThreadTeam& team) {
  const SectionRows rows(parts, first, end, inputs_);
  const WeightType type = section.type;
  const bool quantised = IsQuantised(type);
  section.outputs = rows.size();
  section.panel = quantised ? kernels_->block_columns : kernels_->panel_columns;
  const int64_t depth = type == WeightType::kBF16 ? (inputs_ + 1) / 2 * 2 : inputs_;
  section.panel_bytes = quantised ? BlockPanelBytes(type, section.panel, inputs_)
                                  : depth * section.panel * static_cast<int64_t>(Bytes(type));
  const int64_t panels = Padded(section.outputs) / section.panel;
  const auto bytes = static_cast<size_t>(panels * section.panel_bytes);
  if (section.data.size() != bytes) section.data = AlignedBuffer(bytes);
  team.Run([&](ThreadTeam::Member& member) {
    std::vector<float> values(inputs_);
    std::vector<std::vector<std::byte>> memory(section.panel);
    std::vector<const std::byte*> outputs;
    member.ForEach(panels, [&](int64_t p) {
      std::byte* panel = section.data.data() + p * section.panel_bytes;
      const int64_t row = p * section.panel;
      const int64_t count = std::clamp<int64_t>(rows.size() - row, 0, section.panel);
      outputs.clear();
      for (int64_t c = 0; c < count; ++c) {
        if (quantised) {
          outputs.push_back(rows.Blocks(row + c, type, values, memory[c]));
          continue;
        }
        rows.Read(row + c, values.data());
        for (int64_t k = 0; k < inputs_; ++k) Put(type, section.panel, panel, k, c, values[k]);
      }
      if (quantised) MakeBlockPanel(type, section.panel, outputs, inputs_, panel);
    });
  });
  for (size_t p = first; p < end; ++p) {
    if (parts[p].weight->mapped) ForgetPages(parts[p].weight->data);
  }
}

void PackedMatrix::MakeSlices() {
  slices_.clear();
  int64_t output = 0;
  for (size_t s = 0; s < sections_.size(); ++s) {
    const int64_t outputs = sections_[s].outputs;
    for (int64_t within = 0; within < outputs; within += kSlice) {
      // The padding of the last section may be written, that of others is where the next begins.
      const int64_t rest = s + 1 == sections_.size() ? kSlice : outputs - within;
      slices_.push_back(
          {s, output + within, within, static_cast<int>(std::min<int64_t>(kSlice, rest))});
    }
    output += outputs;
  }
}

LeftForms PackedMatrix::forms() const {
  LeftForms forms;
  for (const Section& section : sections_) forms = forms | LeftForms::Of(section.type);
  return forms;
}

void PackedMatrix::MultiplyColumns(const LeftRows& from, int64_t first, int count,
                                   const Slice& slice, int columns, float* to, int64_t stride,
                                   bool add) const {
  const Section& section = sections_[slice.section];
  const std::byte* panels =
      section.data.data() + slice.within / section.panel * section.panel_bytes;
  if (IsQuantised(section.type)) {
    kernels_->multiply_blocks(section.type, {.a = from.BlocksOf(first),
                                             .lda = from.stride() / kLeftBlock,
                                             .rows = count,
                                             .b = panels,
                                             .panel_bytes = section.panel_bytes,
                                             .blocks = inputs_ / kLeftBlock,
                                             .c = to,
                                             .ldc = stride,
                                             .columns = columns,
                                             .add = add});
    return;
  }
  const bool pairs = section.type == WeightType::kBF16;
  const int64_t depth = pairs ? (inputs_ + 1) / 2 * 2 : inputs_;
  kernels_->multiply(section.type, {.a = from.Row(first, section.type),
                                    .lda = from.stride(),
                                    .rows = count,
                                    .b = panels,
                                    .ldb = section.panel,
                                    .depth = depth,
                                    .c = to,
                                    .ldc = stride,
                                    .columns = columns,
                                    .add = add,
                                    .panel_stride = (pairs ? depth / 2 : depth) * section.panel});
}

void PackedMatrix::Multiply(const LeftRows& from, int64_t first, int count, int64_t index,
                            float* to, int64_t stride, bool add) const {
  const Slice& slice = slices_[index];
  if (slice.columns % kLanes == 0) {
    MultiplyColumns(from, first, count, slice, slice.columns, to, stride, add);
  } else {
    float row[kSlice];
    for (int r = 0; r < count; ++r) {
      MultiplyColumns(from, first + r, 1, slice, kSlice, row, kSlice, /*add=*/false);
      for (int c = 0; c < slice.columns; ++c) {
        to[r * stride + c] = row[c] + (add ? to[r * stride + c] : 0);
      }
    }
  }
  if (bias_.empty()) return;
  const float* bias = bias_.data() + slice.output;
  for (int row = 0; row < count; ++row) {
    for (int i = 0; i < slice.columns; ++i) to[row * stride + i] += bias[i];
  }
}

}  // namespace agentr
