#include "training/model/tree_attention.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <numeric>

#include "tests/training/finite_difference.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using at::Tensor;

// A trunk of five tokens with three short leaves, then a branch with a leaf of its own, and one
// more leaf behind it. The leaves 1 to 3 are neighbours; 6 has the branch's child before it.
Batch Tree() {
  Batch batch;
  batch.segments = {{0, 5, -1},  {5, 7, 0},   {7, 8, 0},  {8, 11, 0},
                    {11, 14, 0}, {14, 16, 4}, {16, 18, 0}};
  batch.positions = {0, 1, 2, 3, 4, 5, 6, 5, 5, 6, 7, 5, 6, 7, 8, 9, 5, 6};
  batch.tokens.resize(batch.positions.size());
  return batch;
}

// True where token `query` sees token `key`: [tokens, tokens], by walking up the tree.
Tensor Seen(const Batch& batch) {
  const auto n = static_cast<int64_t>(batch.positions.size());
  const Tensor seen = at::zeros({n, n}, at::kBool);
  for (const Segment& segment : batch.segments) {
    for (int32_t query = segment.begin; query < segment.end; ++query) {
      for (int32_t key = segment.begin; key <= query; ++key) seen[query][key] = true;
      for (int32_t s = segment.parent; s >= 0; s = batch.segments[static_cast<size_t>(s)].parent) {
        const Segment& up = batch.segments[static_cast<size_t>(s)];
        for (int32_t key = up.begin; key < up.end; ++key) seen[query][key] = true;
      }
    }
  }
  return seen;
}

// Softmax over the keys that are seen, with one product of all queries and all keys.
Tensor DenseAttention(const AttentionInput& in, const Tensor& index, const Tensor& seen) {
  const Tensor q = in.q.permute({0, 2, 1, 3}), k = in.k.permute({0, 2, 1, 3}),
               v = in.v.permute({0, 2, 1, 3});
  const Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(in.q.size(3));
  const Tensor hidden = seen.index_select(0, index).logical_not();
  return at::matmul(at::softmax(scores.masked_fill(hidden, -INFINITY), 3), v).permute({0, 2, 1, 3});
}

AttentionInput RandomInput(int64_t queries, int64_t tokens, int64_t width = 4) {
  return {RandomTensor({2, queries, 3, width}, 1, 2), RandomTensor({2, tokens, 1, width}, 2, 2),
          RandomTensor({2, tokens, 1, width}, 3)};
}

// 0, 1, …, count - 1.
std::vector<int32_t> All(int32_t count) {
  std::vector<int32_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void ExpectDense(const std::vector<int32_t>& queries, int64_t width = 4) {
  SCOPED_TRACE(::testing::Message() << queries.size() << " queries of width " << width);
  const Batch batch = Tree();
  const AttentionPlan plan(batch, queries, /*window=*/0);
  const auto count = static_cast<int64_t>(queries.size());
  const AttentionInput in = RandomInput(count, static_cast<int64_t>(batch.tokens.size()), width);
  const Tensor index = at::tensor(at::ArrayRef<int32_t>(queries), at::kInt);
  const Tensor seen = Seen(batch);
  const AttentionOutput out = Attend(plan, in);
  EXPECT_LT((out.mixed - DenseAttention(in, index, seen)).abs().max().item<float>(), 1e-6);

  const Tensor d = RandomTensor(in.q.sizes(), 4);
  const AttentionInput gradient = AttendBackward(plan, in, out.log_sums, d, (d * out.mixed).sum(3));
  const auto f = [&] { return Product(DenseAttention(in, index, seen), d); };
  ExpectGradient(in.q, gradient.q, f);
  ExpectGradient(in.k, gradient.k, f);
  ExpectGradient(in.v, gradient.v, f);
}

TEST(TreeAttention, IsThatOfAMaskOverAllTokens) {
  ExpectDense(All(18));
  ExpectDense(All(18), /*width=*/16);  // heads of whole vectors
  ExpectDense({4, 6, 8, 10, 13, 15, 16});
}

TEST(TreeAttention, AlsoWithLibTorchsOperators) {
  const WithOperators operators;
  ExpectDense(All(18));
  ExpectDense({4, 6, 8, 10, 13, 15, 16});
}

// Segments of several blocks and panels, most of which begin inside a segment.
Batch LongTree() {
  Batch batch;
  batch.segments = {{0, 150, -1}, {150, 300, 0}, {300, 301, 1}, {301, 430, 0}};
  for (const Segment& segment : batch.segments) {
    const int32_t first = segment.parent < 0 ? 0 : batch.segments[segment.parent].end;
    const int32_t start = segment.parent < 0 ? 0 : batch.positions[first - 1] + 1;
    for (int32_t i = segment.begin; i < segment.end; ++i) {
      batch.positions.push_back(start + i - segment.begin);
    }
  }
  batch.tokens.resize(batch.positions.size());
  return batch;
}

struct Attended {
  AttentionOutput out;
  AttentionInput gradient;
};

// With as many threads as heads each has a head for itself, with more they share its products,
// which LibTorch then computes.
Attended AttendWith(int threads, const std::vector<int32_t>& queries, int64_t width,
                    int64_t window) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  const Batch batch = LongTree();
  const AttentionPlan plan(batch, queries, window);
  const AttentionInput in = RandomInput(static_cast<int64_t>(queries.size()), 430, width);
  const Tensor d = RandomTensor(in.q.sizes(), 4);
  Attended result{Attend(plan, in), {}};
  result.gradient = AttendBackward(plan, in, result.out.log_sums, d, (d * result.out.mixed).sum(3));
  at::set_num_threads(before);
  return result;
}

TEST(TreeAttention, KernelsOfOurOwnComputeWhatLibTorchDoes) {
  std::vector<int32_t> some;
  for (int32_t i = 3; i < 430; i += 1 + i % 5) some.push_back(i);
  for (const auto& queries : {All(430), some}) {
    for (const int64_t width : {16, 48, 64, 128}) {
      for (const int64_t window : {0, 70}) {
        const Attended own = AttendWith(2, queries, width, window);
        const Attended products = AttendWith(3, queries, width, window);
        const WithOperators operators;
        const Attended everything = AttendWith(3, queries, width, window);
        const auto expect_equal = [&](const Tensor& a, const Tensor& b) {
          EXPECT_LT((a - b).abs().max().item<float>(), 3e-5 * b.abs().max().item<float>())
              << queries.size() << " queries of width " << width << ", window " << window;
        };
        for (const Attended& library : {products, everything}) {
          expect_equal(own.out.mixed, library.out.mixed);
          expect_equal(own.out.log_sums, library.out.log_sums);
          expect_equal(own.gradient.q, library.gradient.q);
          expect_equal(own.gradient.k, library.gradient.k);
          expect_equal(own.gradient.v, library.gradient.v);
        }
      }
    }
  }
}

TEST(TreeAttention, AlsoInBfloat16) {
  const Batch batch = Tree();
  const AttentionPlan plan(batch, All(18), /*window=*/0);
  const auto rounded = [](const AttentionInput& in, at::ScalarType type) -> AttentionInput {
    return {in.q.to(at::kBFloat16).to(type), in.k.to(at::kBFloat16).to(type),
            in.v.to(at::kBFloat16).to(type)};
  };
  const AttentionInput in = RandomInput(18, 18);
  const AttentionInput narrow = rounded(in, at::kBFloat16), wide = rounded(in, at::kFloat);
  const AttentionOutput out = Attend(plan, narrow), exact = Attend(plan, wide);
  EXPECT_LT((out.mixed.to(at::kFloat) - exact.mixed).abs().max().item<float>(), 0.02);
  const Tensor d = RandomTensor(in.q.sizes(), 4).to(at::kBFloat16).to(at::kFloat);
  const Tensor dots = (d * exact.mixed).sum(3);
  const AttentionInput a = AttendBackward(plan, narrow, out.log_sums, d.to(at::kBFloat16), dots);
  const AttentionInput b = AttendBackward(plan, wide, exact.log_sums, d, dots);
  EXPECT_LT((a.q.to(at::kFloat) - b.q).abs().max().item<float>(), 0.05);
  EXPECT_LT((a.k - b.k).abs().max().item<float>(), 0.1);
  EXPECT_LT((a.v - b.v).abs().max().item<float>(), 0.1);
}

TEST(TreeAttention, ShortSiblingsShareAProduct) {
  const AttentionPlan plan(Tree(), All(18), /*window=*/0);
  ASSERT_EQ(plan.blocks().size(),
            4U);  // trunk, its first four children, the branch's leaf, the last leaf
  EXPECT_EQ(plan.blocks()[1].begin, 5);
  EXPECT_EQ(plan.blocks()[1].end, 14);
  EXPECT_EQ(plan.blocks()[1].length, 14);
  const AttentionPlan windowed(Tree(), All(18), /*window=*/3);
  EXPECT_EQ(windowed.blocks().size(), 7U);
}

}  // namespace
}  // namespace agentr
