#include "training/model/matrix_product.h"

#include "tests/training/finite_difference.h"

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

TEST(MatrixProduct, OperandsKeepTheirValues) {
  const Tensor wide = RandomTensor({3, 5}, 1), narrow = wide.to(at::kBFloat16);
  EXPECT_TRUE(ForProducts(wide).is_same(wide));
  EXPECT_TRUE(at::equal(ForProducts(narrow).to(at::kFloat), narrow.to(at::kFloat)));
}

}  // namespace
}  // namespace agentr
