#include "training/trainer.h"

#include <cmath>

namespace agentr {

Trainer::Trainer(Network& network, const AdamWOptions& options)
    : network_(network), optimizer_(network.trained(), options) {}

StepReport Trainer::Step(const std::vector<Batch>& batches, double weight, double learning_rate,
                         uint64_t draw) {
  StepReport report;
  if (weight == 0) return report;  // all its rows were too long
  for (size_t i = 0; i < batches.size(); ++i) {
    // Micro-batches of a step drop different inputs.
    report.sums += TrainOn(network_, batches[i], 1 / weight, draw == 0 ? 0 : draw * 4096 + i);
    report.row_tokens += batches[i].row_tokens;
    report.tokens += static_cast<int64_t>(batches[i].tokens.size());
    report.flops += FlopsOf(network_.config(), batches[i], network_.adapters().empty());
  }
  report.gradient_norm = optimizer_.GradientNorm();
  report.skipped = !std::isfinite(report.gradient_norm) || !std::isfinite(report.sums.Total().loss);
  if (report.skipped) {
    optimizer_.Skip();
  } else {
    optimizer_.Step(learning_rate, report.gradient_norm);
    network_.Refresh();
  }
  return report;
}

LossSums Trainer::HeldOut(const std::vector<Batch>& batches) {
  LossSums sums;
  for (const Batch& batch : batches) sums += Evaluate(network_, batch);
  return sums;
}

CheckpointTensors Trainer::tensors() const {
  CheckpointTensors tensors;
  tensors.parameters = optimizer_.parameters();
  for (const AdamW::Moments& moments : optimizer_.moments()) {
    tensors.means.push_back(moments.mean);
    tensors.squares.push_back(moments.square);
  }
  return tensors;
}

void Trainer::Continue(int64_t optimizer_steps) {
  optimizer_.set_steps(optimizer_steps);
  network_.Refresh();
}

double FlopsOf(const ModelConfig& c, const Batch& batch, bool trains_weights) {
  const auto n = static_cast<double>(batch.tokens.size());
  const auto m = static_cast<double>(TargetRows(batch).size());
  const auto heads = static_cast<double>(c.num_heads * c.head_dim);
  const auto keys = static_cast<double>(2 * c.num_kv_heads * c.head_dim);
  const auto width = static_cast<double>(c.hidden_size);
  const double by_row = width * (2 * heads + 3 * static_cast<double>(c.intermediate_size));
  const auto layers = static_cast<double>(c.num_layers);
  const double weights = layers * n * width * keys + ((layers - 1) * n + m) * by_row +
                         m * width * static_cast<double>(c.vocab_size);
  double pairs = 0;  // in which a token sees a token, in all layers but the last
  double last = 0;
  size_t target = 0;
  for (size_t i = 0; i < batch.tokens.size(); ++i) {
    double sees = batch.positions[i] + 1;
    if (c.sliding_window > 0) sees = std::min(sees, static_cast<double>(c.sliding_window));
    pairs += sees;
    bool trained = false;
    for (; target < batch.targets.size() && batch.targets[target].index <= static_cast<int32_t>(i);
         ++target) {
      trained = true;
    }
    if (trained) last += sees;
  }
  const double attention = ((layers - 1) * pairs + last) * heads * 2;  // multiply-adds, forward
  return 2 * weights * (trains_weights ? 3 : 2) + 2 * attention * 3;
}

}  // namespace agentr
