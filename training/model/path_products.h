// The matrix products of attention between the queries of a block and the keys on their path.
//
// One side of each is only as wide as a head, so that a library spends a good part of its time on
// copies of the other side, and it also computes the pairs in which a key comes after its query. In
// float32, with AVX-512 and a whole head for each thread, the kernels of the CPU decoder take keys
// and scores from where they are and leave out most of these pairs. Otherwise LibTorch multiplies.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "lm/kernels/kernels.h"
#include "training/model/attention_plan.h"

namespace agentr {

class PathProducts {
 public:
  using Block = AttentionPlan::Block;

  // For heads of `width` values that share keys in groups of `shared`; `like` has the type of all
  // tensors. `whole_heads`: the calling thread has a head for itself.
  PathProducts(int64_t width, int64_t shared, const at::Tensor& like, bool whole_heads);

  // The keys (or values) [tokens, width] of a head. Blocks are best taken one after the other: what
  // a product prepares serves the next one of the same block.
  class Keys {
   public:
    // Writes `rows` [queries * shared, width] times the keys of the block into `scores`. In each
    // row only the scores of the keys that its query sees are defined.
    void Score(const at::Tensor& rows, const Block& block, const at::Tensor& scores);
    // out = scores × the block's keys. The scores of keys that a query does not see must be 0.
    void Mix(const at::Tensor& scores, const Block& block, const at::Tensor& out);

   private:
    friend class PathProducts;
    Keys(const PathProducts& products, const at::Tensor& keys);
    void MakePanels();
    const at::Tensor& Gathered(const Block& block);

    const PathProducts& products_;
    at::Tensor keys_;
    std::vector<float> panels_;  // [tokens / kPanel][width][kPanel], with kernels of our own
    at::Tensor gathered_;        // [length, width], those of `of_`, with LibTorch
    const Block* of_ = nullptr;
  };
  Keys KeysOf(const at::Tensor& keys) const { return {*this, keys}; }

  // Memory for the scores of one block after the other, so that they stay in the cache.
  at::Tensor ScoreMemory(const AttentionPlan& plan) const;
  // The scores [queries * shared, at least block.length] of the block in this memory.
  at::Tensor ScoresOf(const Block& block, const at::Tensor& memory) const;

  // Adds the transposed scores × `rows` to the block's keys in `sum` [tokens, width], in float32.
  void AddTransposed(const at::Tensor& scores, const at::Tensor& rows, const Block& block,
                     const at::Tensor& sum) const;

 private:
  int64_t RowLength(const Block& block) const;
  void Multiply(const MatrixProduct& product) const;

  int64_t width_, shared_;
  at::TensorOptions options_;
  const Kernels* kernels_ = nullptr;  // null: LibTorch multiplies
};

}  // namespace agentr
