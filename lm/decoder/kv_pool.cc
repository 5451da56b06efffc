#include "lm/decoder/kv_pool.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lm/decoder/decoder_plan.h"
#include "lm/weights/half.h"

namespace agentr {

KvPool::KvPool(const ModelConfig& config, WeightType type, int64_t bytes)
    : type_(type),
      heads_(config.num_kv_heads),
      head_dim_(static_cast<int>(config.head_dim)),
      padded_width_((head_dim_ + kLanes - 1) / kLanes * kLanes) {
  const int64_t factors = type == WeightType::kQ8_0 ? kKeyBlock * sizeof(float) : 0;
  key_bytes_ = kKeyBlock * head_dim_ * NumberBytes(type) + factors;
  head_bytes_ = key_bytes_ + kKeyBlock * padded_width_ * NumberBytes(type) + factors;
  block_bytes_ = config.num_layers * heads_ * head_bytes_;
  blocks_ = BlocksOfPool(bytes, block_bytes_);
  data_ = AlignedBuffer(blocks_ * block_bytes_);
}

void KvPool::Write(int32_t block, int64_t layer, int64_t head, int offset, const float* key,
                   const float* value) {
  std::byte* place = Place(block, layer, head);
  if (type_ == WeightType::kQ8_0) {
    WriteBytes(key, place + offset, kKeyBlock, place + kKeyBlock * head_dim_, offset);
    place += key_bytes_;
    WriteBytes(value, place + offset * padded_width_, 1, place + kKeyBlock * padded_width_, offset);
    return;
  }
  auto* floats = reinterpret_cast<float*>(place);
  auto* halves = reinterpret_cast<uint16_t*>(place);
  for (int d = 0; d < head_dim_; ++d) {
    const int k = d * kKeyBlock + offset;
    if (type_ == WeightType::kF32) floats[k] = key[d];
    if (type_ == WeightType::kF16) halves[k] = ToF16(key[d]);
    if (type_ == WeightType::kBF16) {
      halves[(d / 2 * kKeyBlock + offset) * 2 + d % 2] = ToBf16(key[d]);
    }
  }
  place += key_bytes_;
  if (type_ == WeightType::kF32) {
    std::memcpy(place + offset * padded_width_ * sizeof(float), value, head_dim_ * sizeof(float));
    return;
  }
  halves = reinterpret_cast<uint16_t*>(place);
  for (int d = 0; d < head_dim_; ++d) {
    if (type_ == WeightType::kF16) {
      halves[offset * padded_width_ + d] = ToF16(value[d]);
    } else {
      uint16_t* pair = halves + (offset / 2 * padded_width_ + d) * 2;
      pair[offset % 2] = ToBf16(value[d]);
      // A bfloat16 product reads pairs of positions: the second must not be an old NaN.
      if (offset % 2 == 0) pair[1] = 0;
    }
  }
}

// Rounds to 255 steps of a factor that is stored for the position.
void KvPool::WriteBytes(const float* from, std::byte* to, int step, std::byte* factors,
                        int offset) const {
  float most = 0;
  for (int d = 0; d < head_dim_; ++d) most = std::max(most, std::fabs(from[d]));
  const float factor = most / 127, inverse = most > 0 ? 127 / most : 0;
  for (int d = 0; d < head_dim_; ++d) {
    to[d * step] = static_cast<std::byte>(static_cast<int>(std::rint(from[d] * inverse)));
  }
  std::memcpy(factors + offset * sizeof(float), &factor, sizeof factor);
}

void KvPool::Copy(int32_t from, int32_t to) {
  std::memcpy(Place(to, 0, 0), Place(from, 0, 0), block_bytes_);
}

}  // namespace agentr
