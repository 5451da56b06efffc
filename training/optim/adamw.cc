#include "training/optim/adamw.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/options.h"
#include "training/own_loops.h"
#include "training/vector_sets.h"

namespace agentr {
namespace {

using at::Tensor;

// Number of values that one thread sums or changes as one piece, so that sums do not depend on the
// number of threads.
constexpr int64_t kPiece = 1 << 14;

// With a decay of 1 in float32 nothing would ever come into the means, and their correction would
// divide 0 by 0; so would a step without epsilon, where all gradients were 0.
constexpr double kMostDecay = 0.999999;
constexpr double kLeastEpsilon = 1e-30;

struct StepSizes {
  float keep;  // 1 - learning rate * decay
  float clip;  // factor of the gradient
  float beta1, beta2, step, correction, epsilon;
};

AGENTR_EACH_SET(void, UpdatePiece,
                (const StepSizes& s, int64_t n, const float* __restrict gradient,
                 float* __restrict value, float* __restrict mean, float* __restrict square),
                (s, n, gradient, value, mean, square)) {
  for (int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * s.clip;
    mean[i] += (g - mean[i]) * (1 - s.beta1);
    square[i] = square[i] * s.beta2 + g * g * (1 - s.beta2);
    const float scale = std::sqrt(square[i]) / s.correction + s.epsilon;
    value[i] = value[i] * s.keep - s.step * (mean[i] / scale);
  }
}

AGENTR_EACH_SET(double, SumOfSquares, (const float* x, int64_t n), (x, n)) {
  constexpr int64_t kLanes = 16;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      lanes[l] += static_cast<double>(x[i + l]) * static_cast<double>(x[i + l]);
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

// UpdatePiece with LibTorch's operators.
void UpdateByOperators(const StepSizes& s, const Parameter& p, const AdamW::Moments& m) {
  const Tensor g = p.gradient * s.clip;
  m.mean.add_(g - m.mean, 1 - s.beta1);
  m.square.mul_(s.beta2).addcmul_(g, g, 1 - s.beta2);
  const Tensor scale = m.square.sqrt().div_(s.correction).add_(s.epsilon);
  p.value.mul_(s.keep).addcdiv_(m.mean, scale, -s.step);
  p.gradient.zero_();
}

template <typename Work>
void ForPieces(int64_t count, const Work& work) {
  at::parallel_for(0, (count + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      work(p, p * kPiece, std::min(kPiece, count - p * kPiece));
    }
  });
}

}  // namespace

void Declare(OptionSet& set, AdamWOptions& o) {
  set.Group("Optimiser");
  set.Add("--adam_beta1", o.beta1, "Decay of AdamW's mean").Range(0, kMostDecay);
  set.Add("--adam_beta2", o.beta2, "Decay of AdamW's mean of squares").Range(0, kMostDecay);
  set.Add("--adam_epsilon", o.epsilon, "Added to AdamW's root of the mean of squares")
      .Range(kLeastEpsilon, 1);
  set.Add("--weight_decay", o.weight_decay,
          "Weight decay of all parameters except norms, biases and embeddings")
      .Min(0);
  set.Add("--max_grad_norm", o.max_norm,
          "Largest norm of the gradient, which is clipped to it; 0: no clipping")
      .Min(0);
}

void Check(const AdamWOptions& o, double learning_rate, std::string_view rate) {
  if (o.weight_decay * learning_rate <= 1) return;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format(
          "--weight_decay {:g} with {} {:g}: each step takes their product as a share off "
          "the weights, which cannot be more than 1. Usual value: a --weight_decay up to 0.1",
          o.weight_decay, rate, learning_rate));
}

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& options)
    : options_(options), parameters_(std::move(parameters)) {
  for (const Parameter& p : parameters_) {
    TORCH_CHECK(p.value.is_contiguous() && p.gradient.is_contiguous(), p.name);
    moments_.push_back({at::zeros_like(p.value), at::zeros_like(p.value)});
  }
}

double AdamW::GradientNorm() const {
  double sum = 0;
  for (const Parameter& p : parameters_) {
    if (!HasOwnLoops(p.gradient)) {
      sum += p.gradient.square().sum(at::kDouble).item<double>();
      continue;
    }
    const float* g = p.gradient.data_ptr<float>();
    std::vector<double> sums(p.gradient.numel() / kPiece + 1);
    ForPieces(p.gradient.numel(), [&](int64_t piece, int64_t begin, int64_t n) {
      sums[piece] = SumOfSquares(g + begin, n);
    });
    for (const double s : sums) sum += s;
  }
  return std::sqrt(sum);
}

void AdamW::Step(double learning_rate, double norm) {
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(options_.beta1, steps);
  const double correction2 = 1 - std::pow(options_.beta2, steps);
  const double clip =
      options_.max_norm > 0 ? std::min(1.0, options_.max_norm / (norm + 1e-6)) : 1.0;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    const Parameter& p = parameters_[k];
    const double decay = p.decays ? options_.weight_decay : 0;
    const StepSizes sizes{static_cast<float>(1 - learning_rate * decay),
                          static_cast<float>(clip),
                          static_cast<float>(options_.beta1),
                          static_cast<float>(options_.beta2),
                          static_cast<float>(learning_rate / correction1),
                          static_cast<float>(std::sqrt(correction2)),
                          static_cast<float>(options_.epsilon)};
    if (!HasOwnLoops(p.value)) {
      UpdateByOperators(sizes, p, moments_[k]);
      continue;
    }
    float *gradient = p.gradient.data_ptr<float>(), *value = p.value.data_ptr<float>();
    float* mean = moments_[k].mean.data_ptr<float>();
    float* square = moments_[k].square.data_ptr<float>();
    ForPieces(p.value.numel(), [&](int64_t, int64_t begin, int64_t n) {
      UpdatePiece(sizes, n, gradient + begin, value + begin, mean + begin, square + begin);
      std::fill_n(gradient + begin, n, 0.0f);
    });
  }
}

}  // namespace agentr
