// The inner loops of the CPU path, once per instruction set, chosen at run time.
//
// Every value is summed up in an order that depends on the shapes of the model and on the position
// of its token alone, never on how many rows are computed side by side, nor on which thread does
// it. So a row's result is the same to the bit in any batch, on one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lm/weights/safetensors.h"

namespace agentr {

enum class Simd { kPortable, kAvx2, kAvx512, kAvx512Bf16 };

// Those of this machine, the fastest last.
std::vector<Simd> AvailableSimd();

constexpr int kLanes = 16;  // columns come in multiples of it
constexpr int kMaxHeadDim = 256;
constexpr int kKeyBlock = 32;  // positions of a block of keys and values
constexpr int kTileRows = 32;  // queries × heads that Attend takes at most

// C (rows × columns) = A B, or C += A B, accumulated in float32.
//
// The left side is float32; with kBF16 it is bfloat16, rounded by who wrote it. B is packed: with
// kF32 and kF16, B[k][c] stands at k * ldb + c; with kBF16, where depth must be even, two
// neighbours in depth stand side by side: at (k / 2 * ldb + c) * 2 + k % 2.
struct MatrixProduct {
  const void* a = nullptr;
  int64_t lda = 0;  // from row to row, in elements
  int rows = 0;
  const void* b = nullptr;
  int64_t ldb = 0;
  int64_t depth = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  int columns = 0;  // a multiple of kLanes
  bool add = false;
};

// Attention of neighbouring tokens of one sequence, for the query heads that share a kv head.
struct AttentionTask {
  WeightType type = WeightType::kF32;
  const float* queries = nullptr;  // [tokens][heads][head_dim], the tokens `stride` apart
  float* mixed = nullptr;          // the result, as `queries`
  int64_t query_stride = 0;
  int64_t mixed_stride = 0;
  int tokens = 0;  // tokens * heads <= kTileRows
  int heads = 0;
  int head_dim = 0;                 // even, at most kMaxHeadDim
  int start = 0;                    // position of the first token
  int window = 0;                   // positions that a token sees back; 0: all
  const int32_t* blocks = nullptr;  // the sequence's block table
  const std::byte* keys = nullptr;  // of this layer and kv head in block 0
  const std::byte* values = nullptr;
  int64_t block_bytes = 0;  // from block to block
};

struct CpuKernels {
  void (*multiply)(WeightType type, const MatrixProduct& product);
  // y = x / sqrt(mean(x²) + epsilon) * weight; y may be x.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, int n, float* y);
  // y = silu(gate) * up; y may be gate.
  void (*swiglu)(const float* gate, const float* up, int n, float* y);
  // Turns each pair (head[i], head[i + half]) by its angle.
  void (*rotate)(float* head, const float* cos, const float* sin, int half);
  // Rounds to bfloat16.
  void (*narrow)(const float* x, int n, uint16_t* y);
  // softmax(q kᵀ / sqrt(head_dim)) v with an online softmax (Milakov and Gimelshein 2018).
  void (*attend)(const AttentionTask& task);
};

const CpuKernels& KernelsOf(Simd simd);

}  // namespace agentr
