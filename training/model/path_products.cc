#include "training/model/path_products.h"

#include <algorithm>

#include "training/model/matrix_product.h"

namespace agentr {
namespace {

using at::Tensor;
using Block = AttentionPlan::Block;

constexpr int64_t kPanel = 64;         // keys whose columns lie together in the L1 cache
constexpr int64_t kGroupQueries = 24;  // queries that leave out the same keys
constexpr int64_t kGroupKeys = 48;     // keys that leave out the same queries

int64_t RoundUp(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// The concatenated keys of a block: [length, width].
Tensor Gather(const Tensor& all, const Block& block) {
  std::vector<Tensor> parts;
  for (const auto& range : block.keys) {
    parts.push_back(all.narrow(0, range.begin, range.end - range.begin));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
}

// The first query of the block that sees its key `key` or a later one: where a query's keys end
// does not decrease from query to query.
int64_t FirstThatSees(const Block& block, int64_t key) {
  return std::upper_bound(block.to.begin(), block.to.end(), key) - block.to.begin();
}

}  // namespace

PathProducts::PathProducts(int64_t width, int64_t shared, const Tensor& like, bool whole_heads)
    : width_(width), shared_(shared), options_(like.options()) {
  static const Simd best = AvailableSimd().back();
  const bool is_fast = best == Simd::kAvx512 || best == Simd::kAvx512Bf16;
  if (is_fast && whole_heads && like.scalar_type() == at::kFloat && like.device().is_cpu() &&
      width % kLanes == 0) {
    kernels_ = &KernelsOf(best);
  }
}

void PathProducts::Multiply(const MatrixProduct& product) const {
  if (product.rows > 0 && product.depth > 0) kernels_->multiply(WeightType::kF32, product);
}

// An odd number of cache lines for kernels of our own: rows at a distance of a power of two would
// push each other out of the cache. A kernel may also write up to a line beyond a row's end.
int64_t PathProducts::RowLength(const Block& block) const {
  return kernels_ == nullptr ? block.length : RoundUp(block.length, 2 * kLanes) + kLanes;
}

Tensor PathProducts::ScoreMemory(const AttentionPlan& plan) const {
  int64_t most = 0;
  for (const Block& block : plan.blocks()) {
    most = std::max(most, (block.end - block.begin) * shared_ * RowLength(block));
  }
  return at::empty({most}, options_);
}

Tensor PathProducts::ScoresOf(const Block& block, const Tensor& memory) const {
  const int64_t rows = (block.end - block.begin) * shared_, length = RowLength(block);
  return memory.narrow(0, 0, rows * length).view({rows, length});
}

PathProducts::Columns PathProducts::ColumnsOf(const Tensor& keys) const {
  Columns columns;
  columns.products_ = this;
  columns.keys_ = keys;
  if (kernels_ == nullptr) return columns;
  TORCH_CHECK(keys.is_contiguous(), "not contiguous");
  // A kernel may read up to a line beyond the last panel.
  columns.panels_.resize(RoundUp(keys.size(0), kPanel) * width_ + kLanes);
  const float* from = keys.data_ptr<float>();
  for (int64_t key = 0; key < keys.size(0); ++key) {
    float* to = columns.panels_.data() + key / kPanel * kPanel * width_ + key % kPanel;
    for (int64_t i = 0; i < width_; ++i) to[i * kPanel] = from[key * width_ + i];
  }
  return columns;
}

void PathProducts::Columns::Score(const Tensor& rows, const Block& block,
                                  const Tensor& scores) const {
  const PathProducts& p = *products_;
  if (p.kernels_ == nullptr) {
    Tensor out = scores;
    at::mm_out(out, rows, Gather(keys_, block).t());
    return;
  }
  const int64_t count = rows.size(0), length = scores.size(1);
  int64_t at = 0;  // keys of the path before the range
  for (const auto& range : block.keys) {
    for (int64_t begin = range.begin; begin < range.end;) {
      const int64_t end = std::min(range.end, (begin / kPanel + 1) * kPanel);
      const int64_t column = at + begin - range.begin;
      const int64_t first = FirstThatSees(block, column) * p.shared_;
      // Columns are computed by the line; those too many are overwritten by the next range.
      p.Multiply({.a = rows.data_ptr<float>() + first * p.width_,
                  .lda = p.width_,
                  .rows = static_cast<int>(count - first),
                  .b = panels_.data() + begin / kPanel * kPanel * p.width_ + begin % kPanel,
                  .ldb = kPanel,
                  .depth = p.width_,
                  .c = scores.data_ptr<float>() + first * length + column,
                  .ldc = length,
                  .columns = static_cast<int>(RoundUp(end - begin, kLanes))});
      begin = end;
    }
    at += range.end - range.begin;
  }
}

void PathProducts::Mix(const Tensor& scores, const Tensor& keys, const Block& block,
                       const Tensor& out) const {
  if (kernels_ == nullptr) {
    Tensor mixed = out;
    at::mm_out(mixed, scores, Gather(keys, block));
    return;
  }
  TORCH_CHECK(keys.is_contiguous() && out.is_contiguous(), "not contiguous");
  const int64_t queries = block.end - block.begin, length = scores.size(1);
  for (int64_t query = 0; query < queries; query += kGroupQueries) {
    const int64_t count = std::min(kGroupQueries, queries - query);
    const int64_t seen = block.to[query + count - 1];
    int64_t at = 0;
    for (const auto& range : block.keys) {
      Multiply({.a = scores.data_ptr<float>() + query * shared_ * length + at,
                .lda = length,
                .rows = static_cast<int>(count * shared_),
                .b = keys.data_ptr<float>() + range.begin * width_,
                .ldb = width_,
                .depth = std::min(range.end - range.begin, seen - at),
                .c = out.data_ptr<float>() + query * shared_ * width_,
                .ldc = width_,
                .columns = static_cast<int>(width_),
                .add = at > 0});
      at += range.end - range.begin;
    }
  }
}

void PathProducts::AddTransposed(const Tensor& scores, const Tensor& rows, const Block& block,
                                 const Tensor& sum) const {
  const int64_t count = rows.size(0), length = scores.size(1);
  int64_t at = 0;
  for (const auto& range : block.keys) {
    if (kernels_ == nullptr) {
      const int64_t keys = range.end - range.begin;
      AddProduct(sum.narrow(0, range.begin, keys), scores.narrow(1, at, keys), rows);
    } else {
      for (int64_t key = range.begin; key < range.end; key += kGroupKeys) {
        const int64_t column = at + key - range.begin;
        const int64_t first = FirstThatSees(block, column) * shared_;
        Multiply({.a = scores.data_ptr<float>() + first * length + column,
                  .lda = 1,
                  .rows = static_cast<int>(std::min(kGroupKeys, range.end - key)),
                  .b = rows.data_ptr<float>() + first * width_,
                  .ldb = width_,
                  .depth = count - first,
                  .c = sum.data_ptr<float>() + key * width_,
                  .ldc = width_,
                  .columns = static_cast<int>(width_),
                  .add = true,
                  .a_step = length});
      }
    }
    at += range.end - range.begin;
  }
}

}  // namespace agentr
