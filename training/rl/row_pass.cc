#include "training/rl/row_pass.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "training/data/batch_builder.h"
#include "training/loss/linear_cross_entropy.h"

namespace agentr {
namespace {

using at::Tensor;

Batch TreeOf(std::span<const TrainingRow> rows) {
  std::vector<const TrainingRow*> pointers;
  for (const TrainingRow& row : rows) pointers.push_back(&row);
  return BuildBatch(pointers, /*share_prefixes=*/true);
}

Tensor LongTensor(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}

// The place of each of `wanted` in the sorted list `all`.
Tensor PlacesIn(const std::vector<int32_t>& all, const std::vector<int32_t>& wanted) {
  std::vector<int64_t> places;
  for (const int32_t index : wanted) {
    places.push_back(std::ranges::lower_bound(all, index) - all.begin());
  }
  return LongTensor(places);
}

}  // namespace

std::vector<std::vector<int32_t>> PathsOf(const Batch& batch, std::span<const TrainingRow> rows) {
  std::map<std::pair<int32_t, int32_t>, size_t> children;  // by parent and first token
  for (size_t s = 0; s < batch.segments.size(); ++s) {
    const Segment& segment = batch.segments[s];
    const auto begin = static_cast<size_t>(segment.begin);
    children[{segment.parent, batch.tokens[begin]}] = s;
  }
  std::vector<std::vector<int32_t>> paths;
  for (const TrainingRow& row : rows) {
    std::vector<int32_t>& path = paths.emplace_back();
    int32_t parent = -1;
    while (path.size() < row.ids.size()) {
      const size_t s = children.at({parent, row.ids[path.size()]});
      const Segment& segment = batch.segments[s];
      for (int32_t i = segment.begin; i < segment.end && path.size() < row.ids.size(); ++i) {
        path.push_back(i);
      }
      parent = static_cast<int32_t>(s);
    }
  }
  return paths;
}

void AddPair(const std::vector<int32_t>& state, const std::vector<int32_t>& action,
             std::vector<TrainingRow>& rows, std::vector<RowToken>& tokens) {
  TrainingRow row;
  row.ids = state;
  row.ids.insert(row.ids.end(), action.begin(), action.end());
  tokens.push_back({rows.size(), static_cast<int32_t>(state.size()) - 1});
  tokens.push_back({rows.size(), static_cast<int32_t>(row.ids.size()) - 1});
  rows.push_back(std::move(row));
}

RowPass::RowPass(Network& network, std::span<const TrainingRow> rows,
                 std::span<const RowToken> states, bool keep)
    : network_(network), batch_(TreeOf(rows)) {
  const std::vector<std::vector<int32_t>> paths = PathsOf(batch_, rows);
  FindTargets(rows, paths);
  const std::vector<int32_t> with_targets = TargetRows(batch_);
  std::vector<int32_t> all = with_targets, of_states;
  for (const RowToken& state : states) {
    of_states.push_back(paths[state.row][static_cast<size_t>(state.token)]);
  }
  all.insert(all.end(), of_states.begin(), of_states.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  target_rows_ = PlacesIn(all, with_targets);
  state_rows_ = PlacesIn(all, of_states);
  hidden_ = network_.Forward(batch_, all, keep);
  target_log_probs_ =
      TargetLogProbs(hidden_.index_select(0, target_rows_), network_.head_weight(), batch_.targets);
  SumLogProbs();
}

void RowPass::FindTargets(std::span<const TrainingRow> rows,
                          const std::vector<std::vector<int32_t>>& paths) {
  const auto key = [](const Target& t) { return std::tuple(t.index, t.token, t.kind); };
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<int32_t>& own = targets_.emplace_back();
    for (const TrainedSpan& span : rows[r].trained) {
      for (auto i = static_cast<size_t>(span.begin); i < static_cast<size_t>(span.end); ++i) {
        const Target wanted{paths[r][i - 1], rows[r].ids[i], 0, span.kind};
        const auto found = std::ranges::lower_bound(batch_.targets, key(wanted), {}, key);
        own.push_back(static_cast<int32_t>(found - batch_.targets.begin()));
      }
    }
  }
}

void RowPass::SumLogProbs() {
  log_probs_ = at::zeros({static_cast<int64_t>(targets_.size())}, at::kFloat);
  float* sums = log_probs_.data_ptr<float>();
  for (size_t r = 0; r < targets_.size(); ++r) {
    for (const float logprob : TokenLogProbs(r)) sums[r] += logprob;
  }
}

std::vector<float> RowPass::TokenLogProbs(size_t row) const {
  std::vector<float> result;
  for (const int32_t t : targets_[row]) result.push_back(target_log_probs_[static_cast<size_t>(t)]);
  return result;
}

Tensor RowPass::states() const { return hidden_.index_select(0, state_rows_); }

void RowPass::Backward(const Tensor& by_log_prob, const Tensor& by_states) {
  std::vector<std::vector<float>> by_token;
  for (size_t r = 0; r < targets_.size(); ++r) {
    by_token.emplace_back(targets_[r].size(), by_log_prob[static_cast<int64_t>(r)].item<float>());
  }
  Backward(by_token, by_states);
}

void RowPass::Backward(std::span<const std::vector<float>> by_token, const Tensor& by_states) {
  const Tensor dhidden = at::zeros_like(hidden_);
  for (Target& target : batch_.targets) target.weight = 0;
  for (size_t r = 0; r < targets_.size(); ++r) {
    for (size_t t = 0; t < targets_[r].size(); ++t) {
      batch_.targets[static_cast<size_t>(targets_[r][t])].weight -= by_token[r][t];
    }
  }
  if (!batch_.targets.empty()) {
    const Tensor part = hidden_.index_select(0, target_rows_), dpart = at::empty_like(part);
    LinearCrossEntropy(part, network_.head_weight(), batch_.targets, 1, dpart,
                       network_.head_gradient());
    dhidden.index_add_(0, target_rows_, dpart);
  }
  if (by_states.defined()) dhidden.index_add_(0, state_rows_, by_states.to(dhidden.dtype()));
  network_.Backward(dhidden);
}

}  // namespace agentr
