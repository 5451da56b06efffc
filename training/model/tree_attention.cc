#include "training/model/tree_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "training/model/elementwise.h"
#include "training/model/matrix_product.h"
#include "training/model/row_kernels.h"

namespace agentr {
namespace {

using at::Tensor;

// Queries per block: enough for fast products, but few enough that little is computed for masked
// pairs and the scores stay in the cache.
constexpr int64_t kBlockQueries = 128;

// The ranges from the root to `segment`, with adjacent ones joined.
std::vector<AttentionPlan::Range> PathTo(const Batch& batch, int32_t segment) {
  std::vector<AttentionPlan::Range> path;
  for (int32_t s = segment; s >= 0; s = batch.segments[s].parent) {
    const Segment& part = batch.segments[s];
    if (!path.empty() && path.back().begin == part.end) {
      path.back().begin = part.begin;
    } else {
      path.push_back({part.begin, part.end});
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The part of `path` between its tokens `from` and `to`.
std::vector<AttentionPlan::Range> Cut(const std::vector<AttentionPlan::Range>& path, int64_t from,
                                      int64_t to) {
  std::vector<AttentionPlan::Range> kept;
  int64_t at = 0;  // tokens of the path before the range
  for (const AttentionPlan::Range& range : path) {
    const int64_t begin = std::max(range.begin, range.begin + from - at);
    const int64_t end = std::min(range.end, range.begin + to - at);
    if (begin < end) kept.push_back({begin, end});
    at += range.end - range.begin;
  }
  return kept;
}

// The concatenated keys of a block: [kv heads, length, head_dim].
Tensor Gather(const Tensor& all, const AttentionPlan::Block& block) {
  const Tensor flat = all.squeeze(2);
  std::vector<Tensor> parts;
  for (const auto& range : block.keys) {
    parts.push_back(flat.narrow(1, range.begin, range.end - range.begin));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
}

// Adds [kv heads, length, head_dim] to the positions from which Gather copied.
void Scatter(const Tensor& part, const AttentionPlan::Block& block, const Tensor& all) {
  int64_t at = 0;
  for (const auto& range : block.keys) {
    const int64_t length = range.end - range.begin;
    all.squeeze(2).narrow(1, range.begin, length).add_(part.narrow(1, at, length));
    at += length;
  }
}

// The rows of a block in a tensor [kv heads, queries, shared, width], as [kv heads, rows, width].
Tensor RowsOf(const Tensor& all, const AttentionPlan::Block& block) {
  const int64_t count = (block.end - block.begin) * all.size(2);
  return all.narrow(1, block.begin, block.end - block.begin)
      .view({all.size(0), count, all.size(3)});
}

AttentionInput ForProducts(const AttentionInput& in) {
  return {agentr::ForProducts(in.q), agentr::ForProducts(in.k), agentr::ForProducts(in.v)};
}

// Calls work(row of [kv heads * rows], query of the block, index in log_sums) for each row.
template <typename Work>
void ForScores(const AttentionPlan::Block& block, const Tensor& log_sums, const Work& work) {
  const int64_t shared = log_sums.size(2), queries = log_sums.size(1);
  const int64_t rows = (block.end - block.begin) * shared;
  at::parallel_for(0, log_sums.size(0) * rows, 8, [&](int64_t begin, int64_t end) {
    std::vector<float> a, b;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / rows, row = i % rows;
      work(i, row / shared, (head * queries + block.begin) * shared + row, a, b);
    }
  });
}

}  // namespace

AttentionPlan::AttentionPlan(const Batch& batch, const std::vector<int32_t>& queries,
                             int64_t window)
    : queries_(static_cast<int64_t>(queries.size())) {
  int64_t next = 0;
  for (size_t s = 0; s < batch.segments.size(); ++s) {
    const int64_t first = next;
    while (next < queries_ && queries[next] < batch.segments[s].end) ++next;
    if (first == next) continue;
    AddSegment(batch, PathTo(batch, static_cast<int32_t>(s)), first, next, queries, window);
  }
}

void AttentionPlan::AddSegment(const Batch& batch, const std::vector<Range>& path, int64_t first,
                               int64_t last, const std::vector<int32_t>& queries, int64_t window) {
  // The positions of a path increase by 1: key j of the path has position `root` + j.
  const int64_t root = batch.positions[path.front().begin];
  for (int64_t begin = first; begin < last; begin += kBlockQueries) {
    Block block;
    block.begin = begin;
    block.end = std::min(begin + kBlockQueries, last);
    const auto sees = [&](int64_t query) { return batch.positions[queries[query]] - root + 1; };
    const auto from = [&](int64_t query) {
      return window > 0 ? std::max<int64_t>(0, sees(query) - window) : 0;
    };
    const int64_t least = from(block.begin);
    block.length = sees(block.end - 1) - least;
    block.keys = Cut(path, least, least + block.length);
    for (int64_t q = block.begin; q < block.end; ++q) {
      block.from.push_back(from(q) - least);
      block.to.push_back(sees(q) - least);
    }
    blocks_.push_back(std::move(block));
  }
}

int64_t AttentionPlan::products() const {
  int64_t sum = 0;
  for (const Block& block : blocks_) sum += (block.end - block.begin) * block.length;
  return sum;
}

AttentionOutput Attend(const AttentionPlan& plan, const AttentionInput& narrow) {
  const AttentionInput in = ForProducts(narrow);
  AttentionOutput out{at::empty_like(in.q), at::empty({in.q.size(0), in.q.size(1), in.q.size(2)},
                                                      in.q.options().dtype(at::kFloat))};
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  for (const AttentionPlan::Block& block : plan.blocks()) {
    const Tensor keys = Gather(in.k, block), values = Gather(in.v, block);
    const Tensor scores = at::bmm(RowsOf(in.q, block), keys.transpose(1, 2)).contiguous();
    const MatrixRows rows(scores.view({-1, block.length}));
    float* sums = out.log_sums.data_ptr<float>();
    ForScores(
        block, out.log_sums, [&](int64_t i, int64_t query, int64_t place, auto& scratch, auto&) {
          float* row = rows.Open(i, scratch);
          sums[place] = rows::Softmax(row, scale, block.from[query], block.to[query], block.length);
          rows.Store(i, row);
        });
    RowsOf(out.mixed, block).copy_(at::bmm(scores, values));
  }
  out.mixed = out.mixed.to(narrow.q.scalar_type());
  return out;
}

AttentionInput AttendBackward(const AttentionPlan& plan, const AttentionInput& narrow,
                              const Tensor& log_sums, const Tensor& dmixed, const Tensor& dots) {
  const AttentionInput in = ForProducts(narrow);
  const Tensor wide_dmixed = ForProducts(dmixed);
  const auto wide = in.k.options().dtype(at::kFloat);
  AttentionInput grad{at::empty_like(in.q), at::zeros(in.k.sizes(), wide),
                      at::zeros(in.v.sizes(), wide)};
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  const float *sums = log_sums.data_ptr<float>(), *dot = dots.data_ptr<float>();
  for (const AttentionPlan::Block& block : plan.blocks()) {
    const Tensor keys = Gather(in.k, block), values = Gather(in.v, block);
    const Tensor queries = RowsOf(in.q, block), d = RowsOf(wide_dmixed, block);
    const Tensor shares = at::bmm(queries, keys.transpose(1, 2)).contiguous();
    const Tensor dscores = at::bmm(d, values.transpose(1, 2)).contiguous();
    const MatrixRows rows(shares.view({-1, block.length}));
    const MatrixRows drows(dscores.view({-1, block.length}));
    ForScores(block, log_sums, [&](int64_t i, int64_t query, int64_t place, auto& a, auto& b) {
      float *row = rows.Open(i, a), *drow = drows.Open(i, b);
      rows::SoftmaxBackward(row, drow, scale, sums[place], dot[place], block.from[query],
                            block.to[query], block.length);
      rows.Store(i, row);
      drows.Store(i, drow);
    });
    RowsOf(grad.q, block).copy_(at::bmm(dscores, keys));
    Scatter(at::bmm(dscores.transpose(1, 2), queries), block, grad.k);
    Scatter(at::bmm(shares.transpose(1, 2), d), block, grad.v);
  }
  grad.q = grad.q.to(narrow.q.scalar_type());
  return grad;
}

}  // namespace agentr
