#include "training/model/elementwise.h"

#include <ATen/Parallel.h>

#include "tests/training/finite_difference.h"

namespace agentr {
namespace {

using at::Tensor;

TEST(Elementwise, RmsNormIsItsDefinitionAndSoIsItsGradient) {
  const Tensor x = RandomTensor({37, 19}, 1), w = RandomTensor({19}, 2),
               d = RandomTensor({37, 19}, 3);
  const Tensor expected = x * at::rsqrt(x.square().mean(at::IntArrayRef{-1}, true) + 0.01) * w;
  EXPECT_LT((RmsNorm(x, w, 0.01) - expected).abs().max().item<float>(), 1e-6);
  const Tensor dx = at::zeros_like(x), dw = at::zeros_like(w);
  RmsNormBackward(d, x, w, 0.01, dx, dw);
  const auto f = [&] { return Product(RmsNorm(x, w, 0.01), d); };
  ExpectGradient(x, dx, f);
  ExpectGradient(w, dw, f);
  RmsNormBackward(d, x, w, 0.01, dx, {});  // adds, and leaves a frozen weight alone
  ExpectGradient(x, dx / 2, f);
}

TEST(Elementwise, SwiGluAndGeGluAreTheirDefinitionsAndSoAreTheirGradients) {
  for (const bool gelu : {false, true}) {
    SCOPED_TRACE(gelu ? "GeGLU" : "SwiGLU");
    const Tensor x = RandomTensor({5, 46}, 1, 6), d = RandomTensor({5, 23}, 2);
    const Tensor gate = x.narrow(1, 0, 23), up = x.narrow(1, 23, 23);
    const Tensor expected = (gelu ? at::gelu(gate, "tanh") : gate * at::sigmoid(gate)) * up;
    EXPECT_LT((SwiGlu(x, gelu) - expected).abs().max().item<float>(), 1e-5);
    const SwiGluGradient gradient = SwiGluBackward(d, x, gelu);
    EXPECT_LT((gradient.y - expected).abs().max().item<float>(), 1e-5);
    ExpectGradient(x, gradient.dgate_up, [&] { return Product(SwiGlu(x, gelu), d); });
  }
}

TEST(Elementwise, HeadsAreTurnedAndTurnedBack) {
  const int64_t tokens = 7, groups = 2, shared = 3, width = 8;
  const Tensor x = RandomTensor({tokens, groups * shared * width}, 1);
  const Tensor angles = RandomTensor({tokens, width / 2}, 2, 3);
  const RotaryTable table{angles.cos(), angles.sin()};
  const Tensor by_head = x.view({tokens, groups, shared, width}).permute({1, 0, 2, 3});
  EXPECT_TRUE(at::equal(ToHeads(x, groups, shared, nullptr), by_head));
  const Tensor a = by_head.narrow(3, 0, width / 2), b = by_head.narrow(3, width / 2, width / 2);
  const Tensor cos = table.cos.view({1, tokens, 1, -1}), sin = table.sin.view({1, tokens, 1, -1});
  const Tensor expected = at::cat({a * cos - b * sin, b * cos + a * sin}, 3);
  const Tensor heads = ToHeads(x, groups, shared, &table);
  EXPECT_LT((heads - expected).abs().max().item<float>(), 1e-6);

  // The way back is the gradient of the way there.
  const Tensor d = RandomTensor(heads.sizes(), 3), wide = at::zeros({tokens, 100});
  const Tensor dx = wide.narrow(1, 20, groups * shared * width);
  FromHeads(d, &table, dx);
  ExpectGradient(x, dx, [&] { return Product(ToHeads(x, groups, shared, &table), d); });
  EXPECT_EQ(wide.narrow(1, 0, 20).abs().max().item<float>(), 0);
  EXPECT_EQ(wide.narrow(1, 68, 32).abs().max().item<float>(), 0);

  const Tensor y = RandomTensor(x.sizes(), 4);
  const Tensor dots = (x * y).view({tokens, groups, shared, width}).sum(3).permute({1, 0, 2});
  EXPECT_LT((HeadDots(x, y, groups, shared) - dots).abs().max().item<float>(), 1e-6);
}

// bfloat16 is float32 with rounded inputs and outputs.
TEST(Elementwise, Bfloat16RoundsOnce) {
  const Tensor x = RandomTensor({5, 46}, 1, 3).to(at::kBFloat16), w = RandomTensor({46}, 2);
  const Tensor d = RandomTensor({5, 23}, 3).to(at::kBFloat16);
  const auto rounded = [](const Tensor& t) { return t.to(at::kBFloat16); };
  const Tensor wide = x.to(at::kFloat);
  EXPECT_TRUE(at::equal(RmsNorm(x, w, 0.01), rounded(RmsNorm(wide, w, 0.01))));
  EXPECT_TRUE(at::equal(SwiGlu(x), rounded(SwiGlu(wide))));
  EXPECT_TRUE(at::equal(SwiGluBackward(d, x).dgate_up,
                        rounded(SwiGluBackward(d.to(at::kFloat), wide).dgate_up)));
  EXPECT_TRUE(std::isnan(SwiGlu(at::full({1, 2}, NAN).to(at::kBFloat16)).item<float>()));
}

#ifndef __SANITIZE_THREAD__  // compiled without OpenMP
TEST(Elementwise, LoopsUseAllThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::vector<int> threads(2, -1);
  at::parallel_for(0, 2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) threads[i] = at::get_thread_num();
  });
  at::set_num_threads(before);
  EXPECT_EQ(threads, (std::vector<int>{0, 1}));
}
#endif

}  // namespace
}  // namespace agentr
