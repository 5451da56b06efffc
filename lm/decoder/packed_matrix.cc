#include "lm/decoder/packed_matrix.h"

#include <cstring>

#include "lm/weights/half.h"

namespace agentr {
namespace {

// Stores value k of one output, which is column `c` of its panel.
void Put(WeightType type, std::byte* panel, int64_t k, int64_t c, float value) {
  constexpr int64_t n = PackedMatrix::kPanel;
  if (type == WeightType::kF32) {
    reinterpret_cast<float*>(panel)[k * n + c] = value;
  } else if (type == WeightType::kF16) {
    reinterpret_cast<uint16_t*>(panel)[k * n + c] = ToF16(value);
  } else {
    reinterpret_cast<uint16_t*>(panel)[(k / 2 * n + c) * 2 + k % 2] = ToBf16(value);
  }
}

}  // namespace

void PackedMatrix::Pack(const std::vector<LinearWeights>& parts, WeightType type,
                        ThreadTeam& team) {
  type_ = type;
  struct Row {
    const Weight* weight;
    int64_t index;
  };
  std::vector<Row> rows;
  const int64_t inputs = parts[0].weight->shape[1];
  for (const LinearWeights& part : parts) {
    for (int64_t i = 0; i < part.weight->shape[0]; ++i) rows.push_back({part.weight, i});
  }
  outputs_ = static_cast<int64_t>(rows.size());
  inputs_ = type == WeightType::kBF16 ? (inputs + 1) / 2 * 2 : inputs;
  panel_bytes_ = inputs_ * kPanel * static_cast<int64_t>(Bytes(type));
  const auto bytes = static_cast<size_t>(panels() * panel_bytes_);
  if (data_.size() != bytes) data_ = AlignedBuffer(bytes);
  team.Run([&](int rank) {
    std::vector<float> row(inputs);
    const auto [begin, end] = team.Share(panels(), rank);
    for (int64_t r = begin * kPanel; r < std::min(end * kPanel, outputs_); ++r) {
      ReadWeight(*rows[r].weight, rows[r].index * inputs, inputs, row.data());
      std::byte* panel = data_.data() + r / kPanel * panel_bytes_;
      for (int64_t k = 0; k < inputs; ++k) Put(type, panel, k, r % kPanel, row[k]);
    }
  });
  // The configuration decides whether there is a bias, so a Load cannot change it.
  if (parts[0].bias == nullptr) return;
  bias_.resize(panels() * kPanel);
  float* bias = bias_.data();
  for (const LinearWeights& part : parts) {
    ReadWeight(*part.bias, 0, part.bias->shape[0], bias);
    bias += part.bias->shape[0];
  }
}

void ReadWeight(const Weight& weight, int64_t offset, int64_t count, float* to) {
  const auto bytes = static_cast<int64_t>(Bytes(weight.type));
  const std::byte* from = weight.data.data() + offset * bytes;
  if (weight.type == WeightType::kF32) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + i * bytes, sizeof bits);
    to[i] = weight.type == WeightType::kF16 ? FromF16(bits) : FromBf16(bits);
  }
}

}  // namespace agentr
