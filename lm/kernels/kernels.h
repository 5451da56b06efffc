// The inner loops of the CPU path, compiled once per instruction set (common/simd.h).
//
// Each level's vectors are as wide as its registers: the compiler keeps wider ones in memory, which
// costs a load and a store for every multiplication. The order of every summation depends only on
// the model's shapes and the token's position, not on the number of rows computed together or on
// the thread. So on one machine, at one level, a row's result has the same bits in every batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/simd.h"
#include "lm/weights/weight_source.h"

namespace agentr {

constexpr int kLanes = 16;  // the number of columns is a multiple of it
constexpr int kMaxHeadDim = 256;
constexpr int kKeyBlock = 32;   // positions of a block of keys and values
constexpr int kTileRows = 32;   // the most queries × heads in one call of Attend
constexpr int kLeftBlock = 32;  // values of a row that share a scale (LeftBlock)

// C (rows × columns) = A B, or C += A B, accumulated in float32.
//
// A is float32: with kBF16, bfloat16 values (Kernels::left_bytes). A[r][k] is at
// r * lda + k * a_step, so that A can also be the transpose of what is stored (not with kBF16). B
// is packed: with kF32 and kF16, B[k][c] is at k * ldb + c; with kQ8_0 likewise, as bytes with
// signs. With kBF16, depth must be even, and two neighbours in depth are adjacent: B[k][c] is at
// (k / 2 * ldb + c) * 2 + k % 2.
struct MatrixProduct {
  const void* a = nullptr;
  int64_t lda = 0;  // distance of rows, in elements
  int rows = 0;
  const void* b = nullptr;
  int64_t ldb = 0;
  int64_t depth = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  int columns = 0;  // a multiple of kLanes
  bool add = false;
  int64_t a_step = 1;
  // The depth of one pass over the rows, even: the sums start from 0 in each, which keeps rounding
  // errors small, and the columns of B that are computed together stay in the L1 cache.
  int64_t pass = 128;
  // If not 0, B is in panels of Kernels::panel_columns, each laid out as above, at this distance
  // (in places of columns: bytes divided by those of a column in ldb).
  int64_t panel_stride = 0;
};

// Of a key or value in a pool of this type.
constexpr int64_t NumberBytes(WeightType type) {
  return type == WeightType::kQ8_0 ? 1 : static_cast<int64_t>(Bytes(type));
}

// 32 neighbours in a row of activations, as the left side of a product with quantised weights:
// value i is scale * q[i].
struct LeftBlock {
  float scale = 0;
  float scaled_sum = 0;       // scale * (sum of q)
  int32_t half_sums[2] = {};  // sums of q[0 … 15] and of q[16 … 31]
  int8_t q[kLeftBlock] = {};
};

// C = A B, or C += A B, for quantised B: sums of whole numbers within 32 steps in depth,
// accumulated in float32.
struct BlockProduct {
  const LeftBlock* a = nullptr;
  int64_t lda = 0;  // distance of rows, in blocks
  int rows = 0;
  const std::byte* b = nullptr;  // panels of Kernels::block_columns (block_panels.h)
  int64_t panel_bytes = 0;
  int64_t blocks = 0;  // the depth / 32
  float* c = nullptr;
  int64_t ldc = 0;
  int columns = 0;  // a multiple of kLanes
  bool add = false;
};

// A token whose attention is wanted, with the query heads that share a kv head.
struct AttentionToken {
  const float* query = nullptr;     // [heads][head_dim]
  const int32_t* blocks = nullptr;  // the block table of its sequence
  int position = 0;
};

// Attention of several tokens for one kv head. Each block is read once for neighbours that see the
// same one: the tokens of a prompt, or those of sequences with equal beginnings.
//
// Keys are a matrix head_dim × kKeyBlock, values one of kKeyBlock × head_dim (padded to a multiple
// of kLanes), packed as B of a MatrixProduct. With the type kQ8_0 both are bytes with signs, behind
// which are float32 factors, one for each position.
struct AttentionTask {
  WeightType type = WeightType::kF32;
  std::span<const AttentionToken> tokens;  // at least one; tokens * heads <= kTileRows
  float* mixed = nullptr;                  // the result, [tokens][heads][head_dim]
  int heads = 0;
  int head_dim = 0;                 // even, at most kMaxHeadDim
  int window = 0;                   // number of positions that a token sees, with its own; 0: all
  const std::byte* keys = nullptr;  // of this layer and kv head in block 0
  const std::byte* values = nullptr;
  int64_t block_bytes = 0;  // distance of blocks
};

struct Kernels {
  int panel_columns;  // of a panel of B that is read with few cache misses
  int block_columns;  // of a panel of quantised weights: those of a vector
  // The bytes of a value of A with kBF16: 2 if the processor multiplies bfloat16, else 4.
  int bf16_left_bytes;

  void (*multiply)(WeightType type, const MatrixProduct& product);
  void (*multiply_blocks)(WeightType type, const BlockProduct& product);
  // y = x / sqrt(mean(x²) + epsilon) * weight; y may be x.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, int n, float* y);
  // y = silu(gate) * up; y may be gate.
  void (*swiglu)(const float* gate, const float* up, int n, float* y);
  // y = gelu(gate) * up with the approximation by tanh (Hendrycks and Gimpel 2016); y may be gate.
  void (*geglu)(const float* gate, const float* up, int n, float* y);
  // x = e^((x - greatest) * factor), for x <= greatest and a multiple of kLanes values. Returns the
  // sum of the results.
  double (*exponentials)(float* x, int n, float greatest, float factor);
  // Rotates each pair (head[i], head[i + half]) by its angle.
  void (*rotate)(float* head, const float* cos, const float* sin, int half);
  // Rounds to bfloat16, as values of A in products with kBF16 (bf16_left_bytes).
  void (*round_left)(const float* x, int n, void* y);
  // Rounds to blocks of 32, the last of which is filled with zeros.
  void (*quantise_left)(const float* x, int n, LeftBlock* y);
  // softmax(q kᵀ / sqrt(head_dim)) v with an online softmax (Milakov and Gimelshein 2018).
  void (*attend)(const AttentionTask& task);
};

// Of a level that this processor has.
const Kernels& KernelsOf(Simd simd);

}  // namespace agentr
