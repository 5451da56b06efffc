#include "training/model/tree_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "training/model/matrix_product.h"
#include "training/model/operators.h"
#include "training/model/path_products.h"
#include "training/model/row_kernels.h"
#include "training/model/without_autograd.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using at::Tensor;

// The rows of a block in a head's tensor [queries, shared, width], as [rows, width].
Tensor RowsOf(const Tensor& head, const AttentionPlan::Block& block) {
  const int64_t count = (block.end - block.begin) * head.size(1);
  return head.narrow(0, block.begin, block.end - block.begin).view({count, head.size(2)});
}

// The products of one head are small: where there are enough heads each thread takes whole ones, so
// that their scores stay in its cache; otherwise all threads share a product.
bool TakesWholeHeads(int64_t heads) { return heads >= at::get_num_threads(); }

// Calls work(head).
template <typename Work>
void ForHeads(int64_t heads, const Work& work) {
  if (!TakesWholeHeads(heads)) {
    for (int64_t head = 0; head < heads; ++head) work(head);
    return;
  }
  at::parallel_for(0, heads, 1, [&](int64_t begin, int64_t end) {
    const WithoutAutograd guard;  // also of the other threads
    for (int64_t head = begin; head < end; ++head) work(head);
  });
}

constexpr float kNothing = -std::numeric_limits<float>::infinity();

void Fill(float* begin, float* end, float value) { std::fill(begin, end, value); }
// For bfloat16: the upper half of a float.
void Fill(uint16_t* begin, uint16_t* end, float value) {
  std::fill(begin, end, static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
}

// Sets a query's values for the keys of its siblings: kNothing before the softmax, 0 after it.
template <typename T>
void HideSiblings(const AttentionPlan::Block& block, int64_t query, float value, T* row) {
  if (block.own.empty()) return;
  Fill(row + block.fork, row + block.own[static_cast<size_t>(query)], value);
}

// Calls work(row, query of the block, scratch [length]) for each row of a head's scores.
template <typename Work>
void ForScores(const AttentionPlan::Block& block, int64_t shared, const Work& work) {
  const int64_t rows = (block.end - block.begin) * shared;
  at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(block.length);
    for (int64_t row = begin; row < end; ++row) work(row, row / shared, scratch.data());
  });
}

// Calls work(the values of x), as float or as uint16_t for bfloat16.
template <typename Work>
void WithValues(const Tensor& x, const Work& work) {
  if (x.scalar_type() == at::kFloat) {
    work(static_cast<float*>(x.data_ptr()));
  } else {
    work(static_cast<uint16_t*>(x.data_ptr()));
  }
}

// rows::SoftmaxBackward for each row of a block, whose sums and dots begin at these places.
void ScoresBackward(const AttentionPlan::Block& block, int64_t shared, float scale,
                    const float* log_sums, const float* dots, const Tensor& shares,
                    const Tensor& dscores) {
  WithValues(shares, [&](auto* x) {
    auto* dx = static_cast<decltype(x)>(dscores.data_ptr());
    ForScores(block, shared, [&](int64_t i, int64_t query, float*) {
      const int64_t at = i * shares.size(1);
      HideSiblings(block, query, kNothing, x + at);
      rows::SoftmaxBackward(x + at, dx + at, scale, log_sums[i], dots[i], block.from[query],
                            block.to[query], block.length);
      HideSiblings(block, query, 0, x + at);
      HideSiblings(block, query, 0, dx + at);
    });
  });
}

// Without the history of derivatives, which other threads would go on recording.
AttentionInput InputForProducts(const AttentionInput& in) {
  return {ForProducts(in.q.detach()), ForProducts(in.k.detach()).squeeze(2),
          ForProducts(in.v.detach()).squeeze(2)};
}

}  // namespace

AttentionOutput Attend(const AttentionPlan& plan, const AttentionInput& narrow) {
  if (!HasOwnLoops(narrow.q)) return operators::Attend(plan, narrow);
  const AttentionInput in = InputForProducts(narrow);
  AttentionOutput out{at::empty_like(in.q), at::empty({in.q.size(0), in.q.size(1), in.q.size(2)},
                                                      in.q.options().dtype(at::kFloat))};
  const int64_t queries = in.q.size(1), shared = in.q.size(2);
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  const PathProducts products(in.q.size(3), shared, in.q, TakesWholeHeads(in.q.size(0)));
  ForHeads(in.q.size(0), [&](int64_t head) {
    const Tensor q = in.q[head], k = in.k[head], v = in.v[head];
    PathProducts::Keys keys = products.KeysOf(k), values = products.KeysOf(v);
    const Tensor memory = products.ScoreMemory(plan);
    for (const AttentionPlan::Block& block : plan.blocks()) {
      const Tensor scores = products.ScoresOf(block, memory);
      keys.Score(RowsOf(q, block), block, scores);
      float* sums = out.log_sums.data_ptr<float>() + (head * queries + block.begin) * shared;
      WithValues(scores, [&](auto* x) {
        ForScores(block, shared, [&](int64_t i, int64_t query, float* scratch) {
          auto* row = x + i * scores.size(1);
          HideSiblings(block, query, kNothing, row);
          sums[i] =
              rows::Softmax(row, scale, block.from[query], block.to[query], block.length, scratch);
          HideSiblings(block, query, 0, row);
        });
      });
      values.Mix(scores, block, RowsOf(out.mixed[head], block));
    }
  });
  out.mixed = out.mixed.to(narrow.q.scalar_type());
  return out;
}

AttentionInput AttendBackward(const AttentionPlan& plan, const AttentionInput& narrow,
                              const Tensor& log_sums, const Tensor& dmixed, const Tensor& dots) {
  if (!HasOwnLoops(narrow.q)) {
    return operators::AttendBackward(plan, narrow, log_sums, dmixed, dots);
  }
  const AttentionInput in = InputForProducts(narrow);
  const Tensor wide_dmixed = ForProducts(dmixed.detach());
  const auto wide = in.k.options().dtype(at::kFloat);
  AttentionInput grad{at::empty_like(in.q), at::zeros(narrow.k.sizes(), wide),
                      at::zeros(narrow.v.sizes(), wide)};
  const int64_t queries = in.q.size(1), shared = in.q.size(2);
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  const PathProducts products(in.q.size(3), shared, in.q, TakesWholeHeads(in.q.size(0)));
  ForHeads(in.q.size(0), [&](int64_t head) {
    const Tensor q = in.q[head], k = in.k[head], v = in.v[head], d = wide_dmixed[head];
    const Tensor dk = grad.k[head].squeeze(1), dv = grad.v[head].squeeze(1);
    PathProducts::Keys keys = products.KeysOf(k), values = products.KeysOf(v);
    const Tensor memory = products.ScoreMemory(plan), dmemory = products.ScoreMemory(plan);
    for (const AttentionPlan::Block& block : plan.blocks()) {
      const Tensor shares = products.ScoresOf(block, memory);
      const Tensor dscores = products.ScoresOf(block, dmemory);
      const Tensor block_q = RowsOf(q, block), block_d = RowsOf(d, block);
      keys.Score(block_q, block, shares);
      values.Score(block_d, block, dscores);
      const int64_t first = (head * queries + block.begin) * shared;
      ScoresBackward(block, shared, scale, log_sums.data_ptr<float>() + first,
                     dots.data_ptr<float>() + first, shares, dscores);
      keys.Mix(dscores, block, RowsOf(grad.q[head], block));
      products.AddTransposed(dscores, block_q, block, dk);
      products.AddTransposed(shares, block_d, block, dv);
    }
  });
  grad.q = grad.q.to(narrow.q.scalar_type());
  return grad;
}

}  // namespace agentr
