#include "training/model/matrix_product.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "lm/kernels/kernels.h"
#include "training/model/panel_product.h"
#include "training/model/row_kernels.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using at::Tensor;

// Rows that are converted at once: enough for fast products, few enough for the L3 cache.
constexpr int64_t kBlockRows = 512;

bool MultipliesFast(const Tensor& x) {
  return x.scalar_type() != at::kBFloat16 || !x.device().is_cpu() ||
         ActiveSimd() >= Simd::kAvx512Bf16;
}

// Calls work(begin, count) for each block of `rows`.
template <typename Work>
void ForBlocks(int64_t rows, const Work& work) {
  for (int64_t begin = 0; begin < rows; begin += kBlockRows) {
    work(begin, std::min(kBlockRows, rows - begin));
  }
}

Tensor WideRows(const Tensor& x, int64_t begin, int64_t count) {
  return x.narrow(0, begin, count).to(at::kFloat);
}

// sum += scale * product in one pass; LibTorch would first convert the whole product.
void AddNarrow(const Tensor& sum, const Tensor& product, double scale) {
  TORCH_CHECK(sum.is_contiguous() && product.is_contiguous(), "not contiguous");
  const auto* from = static_cast<const uint16_t*>(product.data_ptr());
  float* to = sum.data_ptr<float>();
  at::parallel_for(0, sum.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    rows::AddScaled(from + begin, static_cast<float>(scale), end - begin, to + begin);
  });
}

}  // namespace

Tensor ForProducts(const Tensor& x) { return MultipliesFast(x) ? x : x.to(at::kFloat); }

Tensor Multiply(const Tensor& a, const Tensor& b) {
  if (HasOwnLoops(a) && FitsPanels(a, b)) {
    const Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
    MultiplyPanels(a, b, product, /*add=*/false);
    return product;
  }
  if (MultipliesFast(a)) return at::mm(a, b);
  const Tensor wide = b.to(at::kFloat);
  const Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
  ForBlocks(a.size(0), [&](int64_t begin, int64_t count) {
    product.narrow(0, begin, count).copy_(at::mm(WideRows(a, begin, count), wide));
  });
  return product;
}

Tensor MultiplyBatch(const Tensor& a, const Tensor& b) {
  return at::bmm(ForProducts(a), ForProducts(b)).to(a.scalar_type());
}

void AddProduct(const Tensor& sum, const Tensor& a, const Tensor& b, double scale) {
  if (!HasOwnLoops(a)) {
    sum.add_(at::mm(ForProducts(a).t(), ForProducts(b)).to(a.scalar_type()), scale);
  } else if (scale == 1 && FitsPanels(a.t(), b)) {
    MultiplyPanels(a.t(), b, sum, /*add=*/true);
  } else if (a.scalar_type() == sum.scalar_type()) {
    sum.addmm_(a.t(), b, 1, scale);
  } else if (MultipliesFast(a)) {
    AddNarrow(sum, at::mm(a.t(), b), scale);
  } else {
    ForBlocks(a.size(0), [&](int64_t begin, int64_t count) {
      sum.addmm_(WideRows(a, begin, count).t(), WideRows(b, begin, count), 1, scale);
    });
  }
}

}  // namespace agentr
