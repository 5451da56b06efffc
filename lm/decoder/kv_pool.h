// The pool of keys and values of the CPU path, packed as the right operands of attention's two
// products (see MatrixProduct in kernels.h).
//
// The order in memory is block, layer, kv head. Each kv head has its keys as a matrix head_dim ×
// kKeyBlock, then its values as a matrix kKeyBlock × head_dim (padded to a multiple of kLanes).
#pragma once

#include "lm/decoder/aligned_buffer.h"
#include "lm/kernels/kernels.h"
#include "lm/weights/model_config.h"

namespace agentr {

class KvPool {
 public:
  // `type`: of numbers, or kQ8_0 for bytes with a factor for each position. Allocates as many
  // blocks as fit into `bytes`. Throws FatalError(kUsage) if none does.
  KvPool(const ModelConfig& config, WeightType type, int64_t bytes);

  int32_t blocks() const { return blocks_; }
  int64_t block_bytes() const { return block_bytes_; }

  // The address in block 0; for block b add b * block_bytes().
  const std::byte* Keys(int64_t layer, int64_t head) const { return Place(0, layer, head); }
  const std::byte* Values(int64_t layer, int64_t head) const {
    return Place(0, layer, head) + key_bytes_;
  }

  // Writes the key and the value of a position; the positions of a block must be written in order.
  void Write(int32_t block, int64_t layer, int64_t head, int offset, const float* key,
             const float* value);

  void Copy(int32_t from, int32_t to);

 private:
  std::byte* Place(int32_t block, int64_t layer, int64_t head) const {
    return data_.data() + block * block_bytes_ + (layer * heads_ + head) * head_bytes_;
  }

  void WriteBytes(const float* from, std::byte* to, int step, std::byte* factors, int offset) const;

  const WeightType type_;
  const int64_t heads_;
  const int head_dim_;
  const int padded_width_;
  int64_t key_bytes_;   // of a head in a block
  int64_t head_bytes_;  // keys and values
  int64_t block_bytes_;
  int32_t blocks_;
  AlignedBuffer data_;
};

}  // namespace agentr
