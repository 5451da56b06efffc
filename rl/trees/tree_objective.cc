#include "rl/trees/tree_objective.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/error.h"
#include "common/file.h"
#include "common/json_fields.h"
#include "common/json_lenient.h"
#include "common/progress.h"
#include "rl/losses/shared_pass.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

double SumOfTokens(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

size_t SharedTokens(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The loss of the items of a micro-batch, each counting 1 / `items` (those of GRPO as TokenShare of
// `step` says); adds its share to a report.
class MicroBatchLoss {
 public:
  MicroBatchLoss(const TreeObjectiveOptions& options, const TreeData& data,
                 const std::vector<std::vector<double>>& reference, double share,
                 const GrpoStep& step, TreeStepReport& report)
      : options_(options),
        data_(data),
        reference_(reference),
        share_(share),
        step_(step),
        report_(report) {}

  // `chosen` and `rejected`: numbers of responses; the first two of the rest are their values.
  void AddPreference(size_t chosen, size_t rejected, std::span<const std::vector<double>> logprobs,
                     std::span<std::vector<double>> derivatives) {
    const auto response = [&](size_t index, const std::vector<double>& own) {
      return ResponseLogprob{SumOfTokens(own), SumOfTokens(reference_[index]), own.size()};
    };
    const ResponseLogprob good = response(chosen, logprobs[0]);
    const ResponseLogprob bad = response(rejected, logprobs[1]);
    const PairLoss pair = DpoLoss(good, bad, options_.dpo);
    std::ranges::fill(derivatives[0], share_ * pair.d_chosen);
    std::ranges::fill(derivatives[1], share_ * pair.d_rejected);
    report_.loss += share_ * pair.loss;
    report_.correct += pair.margin > 0 ? share_ : 0;
    report_.margin += share_ * pair.margin;
    report_.chosen += share_ * (good.policy - good.reference);
    report_.rejected += share_ * (bad.policy - bad.reference);
  }

  void AddWeighted(size_t index, const std::vector<double>& logprobs,
                   std::vector<double>& derivatives) {
    const double weight = AwrWeight(data_.responses[index].advantage, options_.awr);
    std::ranges::fill(derivatives, -share_ * weight);
    report_.loss -= share_ * weight * SumOfTokens(logprobs);
    report_.weight += share_ * weight;
    report_.clipped += weight == options_.awr.most_weight ? share_ : 0;
  }

  void AddGroupRelative(size_t index, const std::vector<double>& logprobs,
                        std::vector<double>& derivatives) {
    const TreeResponse& response = data_.responses[index];
    const double weight = response.row.weight;
    const double token_share = weight * TokenShare(step_, logprobs.size(), options_.grpo);
    // Of means over tokens, which a constant does not give.
    const double mean_share =
        options_.grpo.average == GrpoAverage::kConstant ? weight / step_.tokens : token_share;
    for (size_t t = 0; t < logprobs.size(); ++t) {
      TokenLogprobs token{logprobs[t],
                          response.sampled.empty() ? reference_[index][t] : response.sampled[t]};
      if (!reference_.empty()) token.reference = reference_[index][t];
      const TokenLoss loss = GrpoLoss(token, response.advantage, options_.grpo);
      derivatives[t] = token_share * loss.derivative;
      report_.loss += token_share * loss.loss;
      report_.clipped += loss.clipped ? mean_share : 0;
      report_.divergence += mean_share * loss.divergence;
      report_.moved += mean_share * loss.moved;
    }
  }

 private:
  const TreeObjectiveOptions& options_;
  const TreeData& data_;
  const std::vector<std::vector<double>>& reference_;
  const double share_;
  const GrpoStep step_;
  TreeStepReport& report_;
};

}  // namespace

nlohmann::ordered_json ToJson(const TreeStepReport& r, TreeAlgorithmKind kind) {
  nlohmann::ordered_json json = {{"loss", r.loss}};
  switch (kind) {
    case TreeAlgorithmKind::kDpo:
      json.update({{"correct", r.correct},
                   {"margin", r.margin},
                   {"chosen_log_ratio", r.chosen},
                   {"rejected_log_ratio", r.rejected}});
      break;
    case TreeAlgorithmKind::kAwr:
      json.update({{"mean_weight", r.weight}, {"clipped", r.clipped}});
      break;
    case TreeAlgorithmKind::kTreeGrpo:
      json.update({{"clipped", r.clipped}, {"divergence", r.divergence}});
      break;
  }
  json.update({{"items", r.items},
               {"row_tokens", r.row_tokens},
               {"distinct_tokens", r.distinct_tokens},
               {"trained_tokens", r.trained_tokens}});
  return json;
}

TreeObjective::TreeObjective(const TreeObjectiveOptions& options, TreeAlgorithmKind kind,
                             const TreeData& data, Network& network, ProcessGroup* group)
    : options_(options), kind_(kind), data_(data), network_(network), group_(group) {}

bool TreeObjective::NeedsReference() const {
  if (kind_ == TreeAlgorithmKind::kDpo) return true;
  if (kind_ != TreeAlgorithmKind::kTreeGrpo) return false;
  return options_.grpo.kl > 0 ||
         std::ranges::any_of(data_.responses, [](const auto& r) { return r.sampled.empty(); });
}

void TreeObjective::UseReference(const std::filesystem::path& file, const std::string& model) {
  const bool writes = IsFirstRank(group_);
  // Rank 0 decides for all, because the file may appear between two looks.
  const double exists = SumOverRanks(group_, writes && std::filesystem::exists(file) ? 1 : 0);
  if (exists == 0) {
    Progress progress("probabilities before training", "tokens",
                      writes ? static_cast<int64_t>(data_.items.size()) : 0);
    ComputeReference(network_, &progress);
    const nlohmann::json stored = {
        {"data", data_.hash}, {"model", model}, {"logprobs", reference_}};
    if (writes) WriteFileAtomically(file, stored.dump() + "\n");
    return;
  }
  const auto stored = nlohmann::json::parse(ReadFile(file), nullptr, /*allow_exceptions=*/false);
  if (FieldOr<std::string>(stored, "data", "") != data_.hash ||
      FieldOr<std::string>(stored, "model", "") != model) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} has the reference log-probabilities of other trees or "
                                 "options, or of another model: "
                                 "choose another --name, or remove the run's folder",
                                 file.string()));
  }
  reference_ = ReadingRecord(file.string(), "remove it; it is computed again", [&] {
    auto logprobs = JsonField<std::vector<std::vector<double>>>(stored, "logprobs");
    const bool fits = std::ranges::equal(
        logprobs, data_.responses, [](const auto& there, const TreeResponse& response) {
          return std::ssize(there) == response.row.trained_tokens();
        });
    if (!fits) throw std::invalid_argument("field \"logprobs\" has not the responses' lengths");
    return logprobs;
  });
}

void TreeObjective::ComputeReference(Network& network, Progress* progress) {
  std::vector<size_t> all(data_.items.size());
  std::iota(all.begin(), all.end(), size_t{0});
  reference_.resize(data_.responses.size());
  for (const std::vector<size_t>& items : MicroBatches(all)) {
    const SharedPass pass(group_, network, RowsOf(items), {}, /*keep=*/false);
    RequireFinite(pass.log_probs(), "the log-probabilities before training");
    size_t row = 0;
    for (const size_t item : items) {
      for (const size_t response : data_.items[item]) {
        reference_[response] = pass.token_log_probs()[row++];
        if (progress != nullptr) progress->AddUnits(std::ssize(data_.responses[response].row.ids));
      }
      if (progress != nullptr) progress->Done();
    }
  }
}

std::vector<const TrainingRow*> TreeObjective::RowsOf(const std::vector<size_t>& items) const {
  std::vector<const TrainingRow*> rows;
  for (const size_t item : items) {
    for (const size_t response : data_.items[item]) rows.push_back(&data_.responses[response].row);
  }
  return rows;
}

std::vector<std::vector<size_t>> TreeObjective::MicroBatches(std::span<const size_t> items) const {
  std::vector<std::vector<size_t>> batches;
  const TrainingRow* last = nullptr;  // of the batch
  int64_t tokens = 0;
  // The distinct tokens that an item adds to a batch that ends with the row `before`.
  const auto added = [&](size_t item, const TrainingRow* before) {
    int64_t distinct = 0;
    for (const size_t response : data_.items[item]) {
      const TrainingRow& row = data_.responses[response].row;
      const size_t shared = before == nullptr ? 0 : SharedTokens(before->ids, row.ids);
      distinct += static_cast<int64_t>(row.ids.size() - shared);
      before = &row;
    }
    return distinct;
  };
  for (const size_t item : items) {
    if (batches.empty() || tokens + added(item, last) > options_.batch_tokens) {
      batches.emplace_back();
      tokens = 0;
      last = nullptr;
    }
    batches.back().push_back(item);
    tokens += added(item, last);
    last = &data_.responses[data_.items[item].back()].row;
  }
  return batches;
}

GrpoStep TreeObjective::StepOf(std::span<const size_t> items) const {
  GrpoStep step;
  for (const size_t item : items) {
    const TrainingRow& row = data_.responses[data_.items[item].front()].row;
    step.responses += row.weight;
    step.tokens += row.weight * static_cast<double>(row.trained_tokens());
  }
  return step;
}

TreeStepReport TreeObjective::AddGradients(std::span<const size_t> items) {
  TreeStepReport report;
  report.items = static_cast<int64_t>(items.size());
  const double share = 1 / static_cast<double>(items.size());
  const GrpoStep step = StepOf(items);
  for (const std::vector<size_t>& micro : MicroBatches(items)) {
    SharedPass pass(group_, network_, RowsOf(micro), {}, /*keep=*/true);
    report.row_tokens += pass.row_tokens();
    report.distinct_tokens += pass.tokens();
    const RowValues& logprobs = pass.token_log_probs();
    RowValues derivatives;
    for (const std::vector<double>& own : logprobs) {
      derivatives.emplace_back(own.size());
      report.trained_tokens += static_cast<int64_t>(own.size());
    }
    MicroBatchLoss loss(options_, data_, reference_, share, step, report);
    size_t row = 0;
    for (const size_t item : micro) {
      const std::vector<size_t>& responses = data_.items[item];
      if (kind_ == TreeAlgorithmKind::kDpo) {
        loss.AddPreference(responses[0], responses[1], std::span(logprobs).subspan(row, 2),
                           std::span(derivatives).subspan(row, 2));
      } else if (kind_ == TreeAlgorithmKind::kAwr) {
        loss.AddWeighted(responses[0], logprobs[row], derivatives[row]);
      } else {
        loss.AddGroupRelative(responses[0], logprobs[row], derivatives[row]);
      }
      row += responses.size();
    }
    pass.Backward(derivatives, {});
  }
  return report;
}

}  // namespace agentr
