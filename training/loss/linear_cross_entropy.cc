#include "training/loss/linear_cross_entropy.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <span>

#include "training/model/elementwise.h"
#include "training/model/matrix_product.h"
#include "training/model/row_kernels.h"
#include "training/model/without_autograd.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using at::Tensor;

// The targets of row i are first[i] … first[i + 1] - 1.
std::vector<size_t> FirstTargets(const std::vector<Target>& targets) {
  std::vector<size_t> first;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i == 0 || targets[i].index != targets[i - 1].index) first.push_back(i);
  }
  first.push_back(targets.size());
  return first;
}

struct TargetLoss {
  double loss = 0;
  bool correct = false;
};

// One row of logits: computes the losses of its targets and, if wanted, replaces it by the
// gradient.
void LossOfRow(float* logits, int64_t vocabulary, std::span<const Target> targets,
               std::span<TargetLoss> losses, bool gradient, double factor) {
  const float greatest = rows::RowMax(logits, vocabulary);
  const float log_sum = rows::LogSumExp(logits, greatest, vocabulary);
  const auto best = std::find(logits, logits + vocabulary, greatest) - logits;
  double weight = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    losses[i] = {static_cast<double>(log_sum) - logits[targets[i].token], best == targets[i].token};
    weight += targets[i].weight;
  }
  if (!gradient) return;
  rows::ScaledExp(logits, log_sum, static_cast<float>(weight * factor), vocabulary);
  for (const Target& target : targets) {
    logits[target.token] -= static_cast<float>(target.weight * factor);
  }
}

using Losses = std::vector<TargetLoss>;

// The losses of the targets of `count` rows of logits, from row `begin` on. With `gradient` the
// logits are replaced by the gradient.
class LogitLosses {
 public:
  LogitLosses(const std::vector<Target>& targets, double factor)
      : targets_(targets), first_(FirstTargets(targets)), factor_(factor) {}

  int64_t rows() const { return static_cast<int64_t>(first_.size()) - 1; }

  void Compute(const Tensor& logits, int64_t begin, bool gradient, Losses& losses) const {
    if (HasOwnLoops(logits)) {
      ByRows(logits, begin, gradient, losses);
    } else {
      ByOperators(logits, begin, gradient, losses);
    }
  }

 private:
  void ByRows(const Tensor& logits, int64_t begin, bool gradient, Losses& losses) const {
    const MatrixRows of(logits);
    at::parallel_for(0, of.rows(), 4, [&](int64_t from, int64_t to) {
      std::vector<float> scratch;
      for (int64_t i = from; i < to; ++i) {
        const size_t t = first_[begin + i], n = first_[begin + i + 1] - t;
        float* row = of.Open(i, scratch);
        LossOfRow(row, of.width(), {&targets_[t], n}, {&losses[t], n}, gradient, factor_);
        if (gradient) of.Store(i, row);
      }
    });
  }

  void ByOperators(const Tensor& logits, int64_t begin, bool gradient, Losses& losses) const {
    const int64_t count = logits.size(0);
    const size_t t = first_[begin], n = first_[begin + count] - t;
    std::vector<int64_t> row_of, token_of;
    std::vector<float> weight_of;
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = first_[begin + i]; k < first_[begin + i + 1]; ++k) {
        row_of.push_back(i);
        token_of.push_back(targets_[k].token);
        weight_of.push_back(targets_[k].weight);
      }
    }
    const auto there = [&](const auto& values, at::ScalarType type) {
      return at::tensor(values, type).to(logits.device());
    };
    const Tensor rows = there(row_of, at::kLong), tokens = there(token_of, at::kLong);
    const Tensor places = rows * logits.size(1) + tokens;
    const Tensor wide = logits.to(at::kFloat), sums = wide.logsumexp(1);
    const Tensor loss =
        (sums.index_select(0, rows) - wide.view({-1}).index_select(0, places)).cpu();
    const Tensor right = wide.argmax(1).index_select(0, rows).eq(tokens).cpu();
    for (size_t k = 0; k < n; ++k) {
      losses[t + k] = {loss.data_ptr<float>()[k], right.data_ptr<bool>()[k]};
    }
    if (!gradient) return;
    const Tensor weights = there(weight_of, at::kFloat) * factor_;
    const Tensor by_row = at::zeros({count}, weights.options()).index_add_(0, rows, weights);
    const Tensor shares = (wide - sums.view({-1, 1})).exp_().mul_(by_row.view({-1, 1}));
    shares.view({-1}).index_add_(0, places, weights, -1);
    logits.copy_(shares);
  }

  const std::vector<Target>& targets_;
  const std::vector<size_t> first_;
  const double factor_;
};

// The loss of each target. If `dhidden` is defined, it becomes the gradient of factor * (their
// weighted sum); if `dweight` is defined too, the gradient of the weight is added to it.
std::vector<TargetLoss> LossesOf(const Tensor& hidden, const Tensor& weight,
                                 const std::vector<Target>& targets, double factor,
                                 const Tensor& dhidden, const Tensor& dweight,
                                 const LossOptions& options) {
  const WithoutAutograd guard;
  const LogitLosses losses_of(targets, factor);
  const int64_t rows = hidden.size(0), vocabulary = weight.size(0);
  TORCH_CHECK(rows == losses_of.rows() || (rows == 0 && targets.empty()),
              "a row of hidden states for each position with targets");
  for (const Target& target : targets) {
    TORCH_CHECK(target.token >= 0 && target.token < vocabulary, "target ", target.token,
                " is none of the ", vocabulary, " rows of the output projection");
  }
  std::vector<TargetLoss> losses(targets.size());
  const Tensor head = ForProducts(weight);
  const int64_t chunk = std::max(options.least_rows, options.chunk_logits / vocabulary);
  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t count = std::min(chunk, rows - begin);
    const Tensor part = ForProducts(hidden.narrow(0, begin, count));
    const Tensor logits = Multiply(part, head.t());
    losses_of.Compute(logits, begin, dhidden.defined(), losses);
    if (!dhidden.defined()) continue;
    dhidden.narrow(0, begin, count).copy_(Multiply(logits, head));
    if (dweight.defined()) AddProduct(dweight, logits, part);
  }
  return losses;
}

}  // namespace

LossSums::Part LossSums::Total() const {
  Part total;
  for (const Part& part : kinds) {
    total.loss += part.loss;
    total.weight += part.weight;
    total.correct += part.correct;
  }
  return total;
}

LossSums& LossSums::operator+=(const LossSums& other) {
  for (size_t k = 0; k < kinds.size(); ++k) {
    kinds[k].loss += other.kinds[k].loss;
    kinds[k].weight += other.kinds[k].weight;
    kinds[k].correct += other.kinds[k].correct;
  }
  return *this;
}

LossSums LinearCrossEntropy(const Tensor& hidden, const Tensor& weight,
                            const std::vector<Target>& targets, double factor,
                            const Tensor& dhidden, const Tensor& dweight,
                            const LossOptions& options) {
  const std::vector<TargetLoss> losses =
      LossesOf(hidden, weight, targets, factor, dhidden, dweight, options);
  LossSums sums;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto& part = sums.kinds[static_cast<size_t>(targets[i].kind)];
    part.loss += targets[i].weight * losses[i].loss;
    part.weight += targets[i].weight;
    if (losses[i].correct) part.correct += targets[i].weight;
  }
  return sums;
}

std::vector<float> TargetLogProbs(const Tensor& hidden, const Tensor& weight,
                                  const std::vector<Target>& targets) {
  std::vector<float> logprobs;
  for (const TargetLoss& loss : LossesOf(hidden, weight, targets, 1, {}, {}, {})) {
    logprobs.push_back(static_cast<float>(-loss.loss));
  }
  return logprobs;
}

}  // namespace agentr
