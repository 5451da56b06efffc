// All kernels of one level; see vectors_simd.h. The file of a level defines
//   AGENTR_SIMD      the attribute of every function, instead of a flag for the whole file, so that
//                    no inline function of a library has instructions that another machine lacks
//   AGENTR_WIDTH     the floats of a register: 4, 8 or 16
//   AGENTR_PANEL     columns of a panel of float weights (Kernels::panel_columns)
//   AGENTR_BF16      1 if there are instructions for products of bfloat16
//   AGENTR_DOT       1 if there are instructions for sums of four products of bytes
//   AGENTR_TILES     1 if there are registers for tiles of matrices (AMX)

constexpr int kPanelColumns = AGENTR_PANEL;
constexpr int kBf16LeftBytes = AGENTR_BF16 ? 2 : 4;

// In the order in which they use each other.
// clang-format off
#include "lm/kernels/vectors_simd.h"
#include "lm/kernels/products_simd.h"
#include "lm/kernels/rows_simd.h"
#include "lm/kernels/block_types_simd.h"
#include "lm/kernels/blocks_simd.h"
#if AGENTR_TILES
#include "lm/kernels/tiles_simd.h"
#include "lm/kernels/block_tiles_simd.h"
#else
// What the level with tiles has, for those without.
struct Bf16Tiles {};
inline void MultiplyIn(Bf16Tiles&, WeightType type, const MatrixProduct& p) { Multiply(type, p); }
constexpr auto MultiplyWithTiles = &Multiply;
constexpr auto MultiplyBlocksWithTiles = &MultiplyBlocks;
#endif
#include "lm/kernels/attention_simd.h"
// clang-format on

constexpr Kernels kKernels = {.panel_columns = kPanelColumns,
                              .block_columns = kWidth,
                              .bf16_left_bytes = kBf16LeftBytes,
                              .multiply = MultiplyWithTiles,
                              .multiply_blocks = MultiplyBlocksWithTiles,
                              .rms_norm = &RmsNorm,
                              .swiglu = &SwiGlu,
                              .geglu = &GeGlu,
                              .exponentials = &Exponentials,
                              .rotate = &Rotate,
                              .round_left = &RoundLeft,
                              .quantise_left = &QuantiseLeft,
                              .attend = &Attend};

#undef AGENTR_INLINE
#undef AGENTR_SIMD
#undef AGENTR_WIDTH
#undef AGENTR_PANEL
#undef AGENTR_BF16
#undef AGENTR_DOT
#undef AGENTR_TILES
