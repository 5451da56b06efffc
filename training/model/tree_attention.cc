#include "training/model/tree_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "training/model/matrix_product.h"
#include "training/model/row_kernels.h"
#include "training/model/without_autograd.h"

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

// The last of the short siblings that begin with `segment` and have no children between them; it is
// `segment` if the next segment is none.
size_t LastSibling(const Batch& batch, size_t segment) {
  const Segment& first = batch.segments[segment];
  size_t last = segment;
  while (first.parent >= 0 && last + 1 < batch.segments.size()) {
    const Segment& next = batch.segments[last + 1];
    if (next.parent != first.parent || next.end - first.begin > kBlockQueries) break;
    ++last;
  }
  return last;
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

// The concatenated keys of a block, for one head: [length, head_dim].
Tensor Gather(const Tensor& all, const AttentionPlan::Block& block) {
  std::vector<Tensor> parts;
  for (const auto& range : block.keys) {
    parts.push_back(all.narrow(0, range.begin, range.end - range.begin));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
}

// Adds aᵀ b [length, head_dim] to the positions from which Gather copied.
void ScatterProduct(const Tensor& a, const Tensor& b, const AttentionPlan::Block& block,
                    const Tensor& all) {
  int64_t at = 0;
  for (const auto& range : block.keys) {
    const int64_t length = range.end - range.begin;
    AddProduct(all.narrow(0, range.begin, length), a.narrow(1, at, length), b);
    at += length;
  }
}

// The rows of a block in a head's tensor [queries, shared, width], as [rows, width].
Tensor RowsOf(const Tensor& head, const AttentionPlan::Block& block) {
  const int64_t count = (block.end - block.begin) * head.size(1);
  return head.narrow(0, block.begin, block.end - block.begin).view({count, head.size(2)});
}

// Calls work(head). The products of one head are small: where there are enough heads each thread
// takes whole ones, so that their scores stay in its cache; otherwise all threads share a product.
template <typename Work>
void ForHeads(int64_t heads, const Work& work) {
  if (heads < at::get_num_threads()) {
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

// Memory for the scores of one block after the other, so that they stay in the cache.
class ScoreMemory {
 public:
  ScoreMemory(const AttentionPlan& plan, int64_t shared, const Tensor& like) {
    int64_t most = 0;
    for (const AttentionPlan::Block& block : plan.blocks()) {
      most = std::max(most, (block.end - block.begin) * shared * block.length);
    }
    values_ = at::empty({most}, like.options());
  }

  // a bᵀ, which lasts until the next call.
  Tensor Product(const Tensor& a, const Tensor& b) const {
    const int64_t rows = a.size(0), columns = b.size(0);
    Tensor product = values_.narrow(0, 0, rows * columns).view({rows, columns});
    at::mm_out(product, a, b.t());
    return product;
  }

 private:
  Tensor values_;
};

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
      const int64_t at = i * block.length;
      HideSiblings(block, query, kNothing, x + at);
      rows::SoftmaxBackward(x + at, dx + at, scale, log_sums[i], dots[i], block.from[query],
                            block.to[query], block.length);
      HideSiblings(block, query, 0, x + at);
      HideSiblings(block, query, 0, dx + at);
    });
  });
}

// Without the history of derivatives, which other threads would go on recording.
AttentionInput ForProducts(const AttentionInput& in) {
  return {agentr::ForProducts(in.q.detach()), agentr::ForProducts(in.k.detach()).squeeze(2),
          agentr::ForProducts(in.v.detach()).squeeze(2)};
}

}  // namespace

AttentionPlan::AttentionPlan(const Batch& batch, const std::vector<int32_t>& queries,
                             int64_t window) {
  const auto count = static_cast<int64_t>(queries.size());
  int64_t next = 0;
  for (size_t s = 0; s < batch.segments.size(); ++s) {
    const int64_t first = next;
    const size_t last = window > 0 ? s : LastSibling(batch, s);
    while (next < count && queries[next] < batch.segments[last].end) ++next;
    if (first < next && last > s) AddSiblings(batch, s, first, next, queries);
    if (first < next && last == s) {
      AddSegment(batch, PathTo(batch, static_cast<int32_t>(s)), first, next, queries, window);
    }
    s = last;
  }
}

void AttentionPlan::AddSiblings(const Batch& batch, size_t segment, int64_t first, int64_t last,
                                const std::vector<int32_t>& queries) {
  const int64_t begin = batch.segments[segment].begin;  // of the siblings, in the batch
  Block block;
  block.begin = first;
  block.end = last;
  block.keys = PathTo(batch, batch.segments[segment].parent);
  for (const Range& range : block.keys) block.fork += range.end - range.begin;
  const int64_t end = queries[last - 1] + 1;
  block.length = block.fork + end - begin;
  if (block.keys.back().end == begin) {
    block.keys.back().end = end;
  } else {
    block.keys.push_back({begin, end});
  }
  for (int64_t q = first; q < last; ++q) {
    while (queries[q] >= batch.segments[segment].end) ++segment;
    block.from.push_back(0);
    block.to.push_back(block.fork + queries[q] - begin + 1);
    block.own.push_back(block.fork + batch.segments[segment].begin - begin);
  }
  blocks_.push_back(std::move(block));
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

AttentionOutput Attend(const AttentionPlan& plan, const AttentionInput& narrow) {
  const AttentionInput in = ForProducts(narrow);
  AttentionOutput out{at::empty_like(in.q), at::empty({in.q.size(0), in.q.size(1), in.q.size(2)},
                                                      in.q.options().dtype(at::kFloat))};
  const int64_t queries = in.q.size(1), shared = in.q.size(2);
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  ForHeads(in.q.size(0), [&](int64_t head) {
    const Tensor q = in.q[head], k = in.k[head], v = in.v[head];
    const ScoreMemory memory(plan, shared, q);
    for (const AttentionPlan::Block& block : plan.blocks()) {
      const Tensor scores = memory.Product(RowsOf(q, block), Gather(k, block));
      float* sums = out.log_sums.data_ptr<float>() + (head * queries + block.begin) * shared;
      WithValues(scores, [&](auto* x) {
        ForScores(block, shared, [&](int64_t i, int64_t query, float* scratch) {
          auto* row = x + i * block.length;
          HideSiblings(block, query, kNothing, row);
          sums[i] =
              rows::Softmax(row, scale, block.from[query], block.to[query], block.length, scratch);
          HideSiblings(block, query, 0, row);
        });
      });
      Tensor mixed = RowsOf(out.mixed[head], block);
      at::mm_out(mixed, scores, Gather(v, block));
    }
  });
  out.mixed = out.mixed.to(narrow.q.scalar_type());
  return out;
}

AttentionInput AttendBackward(const AttentionPlan& plan, const AttentionInput& narrow,
                              const Tensor& log_sums, const Tensor& dmixed, const Tensor& dots) {
  const AttentionInput in = ForProducts(narrow);
  const Tensor wide_dmixed = agentr::ForProducts(dmixed.detach());
  const auto wide = in.k.options().dtype(at::kFloat);
  AttentionInput grad{at::empty_like(in.q), at::zeros(narrow.k.sizes(), wide),
                      at::zeros(narrow.v.sizes(), wide)};
  const int64_t queries = in.q.size(1), shared = in.q.size(2);
  const float scale = 1 / std::sqrt(static_cast<float>(in.q.size(3)));
  ForHeads(in.q.size(0), [&](int64_t head) {
    const Tensor q = in.q[head], k = in.k[head], v = in.v[head], d = wide_dmixed[head];
    const Tensor dk = grad.k[head].squeeze(1), dv = grad.v[head].squeeze(1);
    const ScoreMemory memory(plan, shared, q), dmemory(plan, shared, q);
    for (const AttentionPlan::Block& block : plan.blocks()) {
      const Tensor keys = Gather(k, block);
      const Tensor block_q = RowsOf(q, block), block_d = RowsOf(d, block);
      const Tensor shares = memory.Product(block_q, keys);
      const Tensor dscores = dmemory.Product(block_d, Gather(v, block));
      const int64_t first = (head * queries + block.begin) * shared;
      ScoresBackward(block, shared, scale, log_sums.data_ptr<float>() + first,
                     dots.data_ptr<float>() + first, shares, dscores);
      Tensor dq = RowsOf(grad.q[head], block);
      at::mm_out(dq, dscores, keys);
      ScatterProduct(dscores, block_q, block, dk);
      ScatterProduct(shares, block_d, block, dv);
    }
  });
  grad.q = grad.q.to(narrow.q.scalar_type());
  return grad;
}

}  // namespace agentr
