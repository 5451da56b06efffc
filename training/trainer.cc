#include "training/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/data/batch_builder.h"
#include "training/model/divergence.h"

namespace agentr {

namespace {

std::unique_ptr<ShardedParameters> ShardsOf(Network& network, ProcessGroup* group, int zero) {
  if (group == nullptr) return nullptr;
  const ModelConfig& config = network.config();
  return std::make_unique<ShardedParameters>(*group, network.trained(), zero, config.num_layers,
                                             config.tied_embeddings);
}

std::vector<Parameter> TrainedWith(const Network& network, const std::vector<Parameter>& heads) {
  std::vector<Parameter> all = network.trained();
  all.insert(all.end(), heads.begin(), heads.end());
  return all;
}

std::vector<Parameter> Updated(const Network& network, const ShardedParameters* shards) {
  if (shards == nullptr) return network.trained();
  std::vector<Parameter> own;
  for (const ParameterPart& part : shards->own()) own.push_back(part.part);
  return own;
}

LossSums SumOf(ProcessGroup& group, const LossSums& sums) {
  std::vector<double> values;
  for (const LossSums::Part& p : sums.kinds) {
    values.insert(values.end(), {p.loss, p.weight, p.correct});
  }
  values = SumOverRanks(group, values);
  LossSums all;
  for (size_t k = 0; k < kTargetKinds; ++k) {
    all.kinds[k] = {values[3 * k], values[3 * k + 1], values[3 * k + 2]};
  }
  return all;
}

}  // namespace

Trainer::Trainer(Network& network, const AdamWOptions& options, ProcessGroup* group, int zero)
    : Trainer(network, options, group, zero, ShardsOf(network, group, zero)) {}

Trainer::Trainer(Network& network, const AdamWOptions& options, ProcessGroup* group, int zero,
                 Shards shards)
    : Updater(network.trained(), Updated(network, shards.get()), options, "--lr"),
      network_(network),
      group_(group),
      zero_(group == nullptr ? 0 : zero),
      shards_(std::move(shards)) {}

Trainer::Trainer(Network& network, const AdamWOptions& options, std::vector<Parameter> heads,
                 ProcessGroup* group, std::string rate)
    : Updater(TrainedWith(network, heads), options, std::move(rate)),
      network_(network),
      group_(group),
      zero_(0),
      heads_(heads.size()) {}

// The number of passes, forward and backward, of this rank in a step: its batches, but at least one
// in a group, because the last pass exchanges gradients; in stage 2, where every pass does, as many
// as the rank with the most has. Example: ranks with 3 and 0 batches make 3 and 1 passes in stage
// 1, 3 and 3 in stage 2. A pass without a batch only takes part in the exchange.
size_t Trainer::Passes(size_t batches) const {
  if (group_ == nullptr) return batches;
  if (zero_ < 2) return std::max<size_t>(1, batches);
  std::vector<double> all(static_cast<size_t>(group_->size()));
  all[static_cast<size_t>(group_->rank())] = static_cast<double>(batches);
  return static_cast<size_t>(std::ranges::max(SumOverRanks(*group_, all)));
}

StepReport Trainer::Step(const std::vector<Batch>& batches, double weight, double learning_rate,
                         uint64_t draw, const StepWatch& watch) {
  StepReport report;
  if (weight == 0) return report;  // all rows of the step were too long
  // Every micro-batch of a step, in all processes, needs a different dropout draw.
  const uint64_t first_draw = (group_ == nullptr ? draw
                                                 : draw * static_cast<uint64_t>(group_->size()) +
                                                       static_cast<uint64_t>(group_->rank())) *
                              4096;
  const size_t passes = Passes(batches.size());
  for (size_t i = 0; i < passes; ++i) {
    report.stopped = report.stopped || (i > 0 && watch.stop != nullptr && *watch.stop);
    if (report.stopped && group_ == nullptr) break;
    const bool exchange = shards_ && (zero_ == 2 || i + 1 == passes);
    if (exchange) {
      shards_->BeginPass();
      network_.OnLayerDone([this](int layer) { shards_->LayerDone(layer); });
    }
    // A process that stops goes on to exchange, because the others wait for it.
    if (i < batches.size() && !report.stopped) {
      report.sums += TrainOn(network_, batches[i], 1 / weight, draw == 0 ? 0 : first_draw + i);
      report.row_tokens += batches[i].row_tokens;
      report.tokens += static_cast<int64_t>(batches[i].tokens.size());
      report.flops += FlopsOf(network_.config(), batches[i], network_.adapters().empty());
      if (watch.batch_done) watch.batch_done(i + 1, batches.size());
    }
    if (exchange) {
      shards_->EndPass();
      network_.OnLayerDone(nullptr);
    }
  }
  AddUp(report);
  if (report.stopped) {
    GiveUp(report);
  } else {
    Update(report, learning_rate);
  }
  return report;
}

void Trainer::GiveUp(StepReport& report) {
  if (shards_) {
    shards_->ClearGradients();
  } else {
    for (const Parameter& p : parameters()) p.gradient.zero_();
  }
  report = {};
  report.stopped = true;
}

// One exchange of all gradients: the heads' ones are the same in all processes, so that their mean
// is taken, which makes them equal to the last bit.
void Trainer::ShareGradients() {
  if (group_ == nullptr || shards_) return;
  std::vector<at::Tensor> flat;
  const size_t first_head = parameters().size() - heads_;
  for (size_t i = 0; i < parameters().size(); ++i) {
    const at::Tensor gradient = parameters()[i].gradient.view({-1});
    flat.push_back(i < first_head ? gradient : gradient / group_->size());
  }
  const at::Tensor all = at::cat(flat);
  group_->AllReduce(all)->Wait();
  int64_t begin = 0;
  for (const Parameter& p : parameters()) {
    p.gradient.copy_(all.narrow(0, begin, p.gradient.numel()).view(p.gradient.sizes()));
    begin += p.gradient.numel();
  }
}

void Trainer::ShareValues() {
  if (!shards_) return;
  shards_->GatherValues();
  shards_->ClearGradients();
}

// Tokens from all over the vocabulary, and a last one that every output has, also that of a value
// model. Where the squares of hidden states overflow, a norm makes zeros of them: then the model is
// blind, and says the same to everything.
void Trainer::CheckAnswer() const {
  constexpr int32_t kTokens = 16;
  TrainingRow row;
  for (int32_t i = 0; i < kTokens; ++i) {
    row.ids.push_back(static_cast<int32_t>(i * network_.config().vocab_size / kTokens));
  }
  row.ids.push_back(0);
  row.trained = {{kTokens, kTokens + 1}};
  const TrainingRow* const rows[] = {&row};
  const Batch batch = BuildBatch(rows, /*share_prefixes=*/false);
  const at::Tensor hidden = network_.Forward(batch, TargetRows(batch), /*keep=*/false);
  const LossSums sums =
      LinearCrossEntropy(hidden, network_.head_weight(), batch.targets, 1, {}, {});
  const double loss = sums.Total().loss;
  if (std::isfinite(loss) && hidden.count_nonzero().item<int64_t>() > 0) return;
  EndDiverged(fmt::format("after optimiser step {} the weights are finite, but so large that the "
                          "model cannot answer",
                          optimizer_steps()),
              rate());
}

void Trainer::AddUp(StepReport& report) const {
  if (group_ == nullptr) return;
  report.sums = SumOf(*group_, report.sums);
  const std::vector<double> counts = SumOverRanks(
      *group_, {static_cast<double>(report.row_tokens), static_cast<double>(report.tokens),
                report.flops, report.stopped ? 1.0 : 0.0});
  report.row_tokens = static_cast<int64_t>(counts[0]);
  report.tokens = static_cast<int64_t>(counts[1]);
  report.flops = counts[2];
  report.stopped = counts[3] > 0;
}

double Trainer::GradientNorm() const {
  const double own = optimizer().GradientNorm();
  return zero_ == 0 ? own : std::sqrt(SumOverRanks(*group_, {own * own})[0]);
}

LossSums Trainer::HeldOut(const std::vector<Batch>& batches) {
  LossSums sums;
  for (const Batch& batch : batches) sums += Evaluate(network_, batch);
  return group_ == nullptr ? sums : SumOf(*group_, sums);
}

CheckpointTensors Trainer::Whole() const {
  if (zero_ == 0) return Own();
  std::vector<at::Tensor> means, squares;
  for (const AdamW::Moments& moments : optimizer().moments()) {
    means.push_back(moments.mean);
    squares.push_back(moments.square);
  }
  means = shards_->Gather(means);
  squares = shards_->Gather(squares);
  CheckpointTensors tensors{shards_->parameters(), {}};
  for (size_t i = 0; i < means.size(); ++i) tensors.moments.push_back({i, 0, means[i], squares[i]});
  return tensors;
}

CheckpointTensors Trainer::Own() const {
  CheckpointTensors tensors = Updater::Own();
  if (!shards_) return tensors;
  for (size_t k = 0; k < tensors.moments.size(); ++k) {
    tensors.moments[k].parameter = shards_->own()[k].parameter;
    tensors.moments[k].begin = shards_->own()[k].begin;
  }
  return tensors;
}

TrainingMemory Trainer::memory() const {
  TrainingMemory memory;
  for (const AdamW::Moments& moments : optimizer().moments()) {
    memory.optimizer += moments.mean.nbytes() + moments.square.nbytes();
  }
  if (shards_) {
    memory.gradients = shards_->gradient_bytes();
    memory.exchange = shards_->passing_gradient_bytes();
  } else {
    for (const Parameter& p : optimizer().parameters()) memory.gradients += p.gradient.nbytes();
  }
  return memory;
}

// A multiply-add is two operations; backward costs as much again for the inputs and, if weights are
// trained, for the weights. In the last layer only rows with targets have queries and an MLP. A
// sequence of 3 tokens has 1 + 2 + 3 pairs of attention; the tokens of a prefix that rows share
// count once, like all of the batch.
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
  double pairs = 0;  // token pairs of attention in all layers except the last
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
