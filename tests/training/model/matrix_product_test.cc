#include "training/model/matrix_product.h"

#include <ATen/Parallel.h>

#include "tests/training/finite_difference.h"
#include "training/model/panel_product.h"

namespace agentr {
namespace {

using at::Tensor;

constexpr int64_t kRows = 1100;  // more than two blocks of them are converted

Tensor Narrow(at::IntArrayRef shape, uint64_t seed) {
  return RandomTensor(shape, seed).to(at::kBFloat16);
}

// bfloat16 has 8 significant bits; the sum before it is that of float32.
void ExpectRoundedOnce(const Tensor& result, const Tensor& exact) {
  EXPECT_EQ(result.sizes(), exact.sizes());
  const Tensor error = (result.to(at::kDouble) - exact).abs();
  EXPECT_TRUE((error <= exact.abs() / 256 + 1e-4).all().item<bool>());
}

TEST(MatrixProduct, OfBfloat16IsThatOfFloat32RoundedOnce) {
  const Tensor a = Narrow({kRows, 70}, 1).narrow(1, 3, 33);  // rows with gaps between them
  for (const Tensor& b : {Narrow({33, 20}, 2), Narrow({20, 33}, 3).t()}) {
    const Tensor product = Multiply(a, b);
    EXPECT_EQ(product.scalar_type(), at::kBFloat16);
    ExpectRoundedOnce(product, at::mm(a.to(at::kDouble), b.to(at::kDouble)));
  }
  EXPECT_EQ(Multiply(Narrow({0, 4}, 1), Narrow({4, 3}, 1)).sizes(), at::IntArrayRef({0, 3}));
}

TEST(MatrixProduct, IsAddedToTheSumOfEveryType) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const Tensor a = RandomTensor({kRows, 9}, 1).to(type), b = RandomTensor({kRows, 7}, 2).to(type);
    const Tensor before = RandomTensor({9, 7}, 3), sum = before.clone();
    AddProduct(sum, a, b, 0.5);
    const Tensor product = at::mm(a.to(at::kDouble).t(), b.to(at::kDouble));
    ExpectRoundedOnce(sum - before, 0.5 * product);
  }
}

// A product of the shapes that training multiplies, in panels. Rows that are not contiguous are
// columns of a transposed matrix.
struct PanelCase {
  int64_t rows, depth, columns;
  bool transposed_a, transposed_b, add;
};

Tensor Operand(int64_t rows, int64_t columns, bool transposed, uint64_t seed) {
  if (transposed) return RandomTensor({columns, rows + 5}, seed).narrow(1, 3, rows).t();
  return RandomTensor({rows, columns + 5}, seed).narrow(1, 3, columns);
}

Tensor PanelsOf(const PanelCase& c, const Tensor& a, const Tensor& b, int threads) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  const Tensor sum = RandomTensor({c.rows, c.columns}, 3);
  MultiplyPanels(a, b, sum, c.add);
  at::set_num_threads(before);
  return sum;
}

// Whole and cut panels, tiles and blocks of a transpose; one to three passes over
// the depth, and more columns than are packed at once.
TEST(MatrixProduct, InPanelsIsTheExactProductWithAnyNumberOfThreads) {
  for (const PanelCase& c : {PanelCase{96, 64, 16, false, true, false},
                             {131, 77, 80, false, true, true},
                             {200, 1100, 144, false, false, false},
                             {101, 1030, 2128, true, false, true},
                             {98, 65, 528, true, true, false},
                             {98, 4200, 80, false, true, false}}) {
    const Tensor a = Operand(c.rows, c.depth, c.transposed_a, 1);
    const Tensor b = Operand(c.depth, c.columns, c.transposed_b, 2);
    if (!FitsPanels(a, b)) GTEST_SKIP() << "no AVX-512";
    const Tensor one = PanelsOf(c, a, b, 1);
    Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
    if (c.add) exact += RandomTensor({c.rows, c.columns}, 3);
    EXPECT_LT((one - exact).abs().max().item<double>(), 1e-4);
    EXPECT_TRUE(at::equal(one, PanelsOf(c, a, b, 3)));
  }
}

TEST(MatrixProduct, OperandsKeepTheirValues) {
  const Tensor wide = RandomTensor({3, 5}, 1), narrow = wide.to(at::kBFloat16);
  EXPECT_TRUE(ForProducts(wide).is_same(wide));
  EXPECT_TRUE(at::equal(ForProducts(narrow).to(at::kFloat), narrow.to(at::kFloat)));
}

}  // namespace
}  // namespace agentr
