#include "rl/algorithms/baseline_step.h"

#include <algorithm>

#include "rl/losses/policy_loss.h"
#include "rl/losses/shared_pass.h"

namespace agentr {
namespace {

using at::Tensor;

int64_t ActionLength(const TrainingRow& row) { return row.trained[0].end - row.trained[0].begin; }

// The token before each trained one, which predicts it, row after row.
std::vector<RowToken> Predictors(std::span<const TrainingRow> rows) {
  std::vector<RowToken> tokens;
  for (size_t r = 0; r < rows.size(); ++r) {
    const TrainedSpan& action = rows[r].trained[0];
    for (int32_t t = action.begin; t < action.end; ++t) tokens.push_back({r, t - 1});
  }
  return tokens;
}

// [tokens], row after row, to [rows, longest] with zeros behind each row.
Tensor Padded(std::span<const TrainingRow> rows, const Tensor& flat) {
  int64_t longest = 0, begin = 0;
  for (const TrainingRow& row : rows) longest = std::max(longest, ActionLength(row));
  const Tensor padded = at::zeros({static_cast<int64_t>(rows.size()), longest}, flat.options());
  for (size_t r = 0; r < rows.size(); ++r) {
    const int64_t n = ActionLength(rows[r]);
    padded[static_cast<int64_t>(r)].narrow(0, 0, n).copy_(flat.narrow(0, begin, n));
    begin += n;
  }
  return padded;
}

// The inverse: the rows of `padded` without what is behind them.
std::vector<Tensor> Unpadded(std::span<const TrainingRow> rows, const Tensor& padded) {
  std::vector<Tensor> parts;
  for (size_t r = 0; r < rows.size(); ++r) {
    parts.push_back(padded[static_cast<int64_t>(r)].narrow(0, 0, ActionLength(rows[r])));
  }
  return parts;
}

Tensor Flat(const RowValues& values) {
  std::vector<float> all;
  for (const std::vector<double>& own : values) all.insert(all.end(), own.begin(), own.end());
  return at::tensor(at::ArrayRef<float>(all), at::kFloat);
}

}  // namespace

void BaselineStep(Trainer& trainer, Network& network, Mlp& head, std::span<const TrainingRow> rows,
                  const Tensor& advantage, double learning_rate, WeightedStepSums& sums) {
  SharedPass pass(trainer.group(), network, rows, Predictors(rows), /*keep=*/true);
  const Tensor values = head.Forward(pass.states(), /*keep=*/true).squeeze(1);
  const BaselineLoss loss =
      ReinforceBaselineLoss(Padded(rows, Flat(pass.token_log_probs())), Padded(rows, values),
                            advantage, Padded(rows, at::ones_like(values)));
  RowValues by_token;
  for (const Tensor& part : Unpadded(rows, loss.dlogprob)) {
    const Tensor own = part.contiguous();
    by_token.emplace_back(own.data_ptr<float>(), own.data_ptr<float>() + own.numel());
  }
  const Tensor by_value = at::cat(Unpadded(rows, loss.dvalues));
  pass.Backward(by_token, head.Backward(by_value.unsqueeze(1)));
  StepReport report = trainer.UpdateFor(loss.policy + loss.value, learning_rate);
  report.tokens = pass.tokens();
  sums.Add(report, 1);
}

}  // namespace agentr
