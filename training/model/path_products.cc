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

// The first query of the block that sees its key `key` or a later one: where a query's keys end
// does not decrease from query to query.
int64_t FirstThatSees(const Block& block, int64_t key) {
  return std::upper_bound(block.to.begin(), block.to.end(), key) - block.to.begin();
}

}  // namespace

PathProducts::PathProducts(int64_t width, int64_t shared, const Tensor& like, bool whole_heads)
    : width_(width), shared_(shared), options_(like.options()) {
  if (ActiveSimd() != Simd::kPortable && whole_heads && like.scalar_type() == at::kFloat &&
      like.device().is_cpu() && width % kLanes == 0) {
    kernels_ = &KernelsOf(ActiveSimd());
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

PathProducts::Keys::Keys(const PathProducts& products, const Tensor& keys)
    : products_(products), keys_(keys) {
  TORCH_CHECK(keys.is_contiguous(), "not contiguous");
}

void PathProducts::Keys::MakePanels() {
  const int64_t tokens = keys_.size(0), width = keys_.size(1);
  // A kernel may read up to a line beyond the last panel.
  panels_.resize(RoundUp(tokens, kPanel) * width + kLanes);
  const float* from = keys_.data_ptr<float>();
  for (int64_t key = 0; key < tokens; ++key) {
    float* to = panels_.data() + key / kPanel * kPanel * width + key % kPanel;
    for (int64_t i = 0; i < width; ++i) to[i * kPanel] = from[key * width + i];
  }
}

const Tensor& PathProducts::Keys::Gathered(const Block& block) {
  if (of_ == &block) return gathered_;
  std::vector<Tensor> parts;
  for (const auto& range : block.keys) {
    parts.push_back(keys_.narrow(0, range.begin, range.end - range.begin));
  }
  gathered_ = parts.size() == 1 ? parts[0] : at::cat(parts, 0);
  of_ = &block;
  return gathered_;
}

void PathProducts::Keys::Score(const Tensor& rows, const Block& block, const Tensor& scores) {
  const PathProducts& p = products_;
  if (p.kernels_ == nullptr) {
    Tensor out = scores;
    at::mm_out(out, rows, Gathered(block).t());
    return;
  }
  if (panels_.empty()) MakePanels();
  const int64_t count = rows.size(0), length = scores.size(1);
  int64_t at = 0;  // keys of the path before the range
  for (const auto& range : block.keys) {
    for (int64_t begin = range.begin; begin < range.end;) {
      const int64_t end = std::min(range.end, (begin / kPanel + 1) * kPanel);
      const int64_t column = at + begin - range.begin;
      const int64_t first = FirstThatSees(block, column) * p.shared_;
      // Columns are computed by whole lines; the next range overwrites the surplus.
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

void PathProducts::Keys::Mix(const Tensor& scores, const Block& block, const Tensor& out) {
  const PathProducts& p = products_;
  if (p.kernels_ == nullptr) {
    Tensor mixed = out;
    at::mm_out(mixed, scores, Gathered(block));
    return;
  }
  TORCH_CHECK(out.is_contiguous(), "not contiguous");
  const int64_t queries = block.end - block.begin, length = scores.size(1);
  for (int64_t query = 0; query < queries; query += kGroupQueries) {
    const int64_t count = std::min(kGroupQueries, queries - query);
    const int64_t seen = block.to[query + count - 1];
    int64_t at = 0;
    for (const auto& range : block.keys) {
      p.Multiply({.a = scores.data_ptr<float>() + query * p.shared_ * length + at,
                  .lda = length,
                  .rows = static_cast<int>(count * p.shared_),
                  .b = keys_.data_ptr<float>() + range.begin * p.width_,
                  .ldb = p.width_,
                  .depth = std::min(range.end - range.begin, seen - at),
                  .c = out.data_ptr<float>() + query * p.shared_ * p.width_,
                  .ldc = p.width_,
                  .columns = static_cast<int>(p.width_),
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
