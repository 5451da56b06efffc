#include "rl/losses/row_pass.h"

#include <algorithm>
#include <map>
#include <utility>

#include "training/loss/linear_cross_entropy.h"

namespace agentr {
namespace {

using at::Tensor;
using Rows = std::span<const TrainingRow* const>;

// The place of each of `wanted` in the sorted list `all`.
Tensor PlacesIn(const std::vector<int32_t>& all, const std::vector<int32_t>& wanted) {
  std::vector<int64_t> places;
  for (const int32_t index : wanted) {
    places.push_back(std::ranges::lower_bound(all, index) - all.begin());
  }
  return at::tensor(at::ArrayRef<int64_t>(places), at::kLong);
}

// Finds the tokens of rows in a batch that was made of them.
class TokenFinder {
 public:
  explicit TokenFinder(const Batch& batch) : batch_(batch) {
    for (size_t s = 0; s < batch.segments.size(); ++s) {
      const auto begin = static_cast<size_t>(batch.segments[s].begin);
      children_[{batch.segments[s].parent, batch.tokens[begin]}] = static_cast<int32_t>(s);
    }
  }

  // The index in the batch of token `token` of a row.
  int32_t Find(const TrainingRow& row, int32_t token) const {
    int32_t parent = -1, at = 0;
    for (;;) {
      const int32_t s = children_.at({parent, row.ids[static_cast<size_t>(at)]});
      const Segment& segment = batch_.segments[static_cast<size_t>(s)];
      const int32_t length = segment.end - segment.begin;
      if (token < at + length) return segment.begin + token - at;
      at += length;
      parent = s;
    }
  }

 private:
  const Batch& batch_;
  std::map<std::pair<int32_t, int32_t>, int32_t> children_;  // by parent and first token
};

std::vector<int32_t> IndicesOf(std::span<const RowToken> states, const Batch& batch, Rows rows) {
  if (states.empty()) return {};
  const TokenFinder finder(batch);
  std::vector<int32_t> indices;
  for (const RowToken& state : states) {
    indices.push_back(finder.Find(*rows[state.row], state.token));
  }
  return indices;
}

}  // namespace

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
    : RowPass(network, PointersTo(rows), states, keep) {}

RowPass::RowPass(Network& network, Rows rows, std::span<const RowToken> states, bool keep)
    : network_(network),
      rows_(BuildRowBatch(rows, /*share_prefixes=*/true)),
      log_probs_(at::zeros({static_cast<int64_t>(rows.size())}, at::kFloat)) {
  const std::vector<int32_t> with_targets = TargetRows(rows_.batch);
  const std::vector<int32_t> of_states = IndicesOf(states, rows_.batch, rows);
  std::vector<int32_t> all = with_targets;
  all.insert(all.end(), of_states.begin(), of_states.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  target_rows_ = PlacesIn(all, with_targets);
  state_rows_ = PlacesIn(all, of_states);
  hidden_ = network_.Forward(rows_.batch, all, keep);
  const std::vector<float> by_target = TargetLogProbs(hidden_.index_select(0, target_rows_),
                                                      network_.head_weight(), rows_.batch.targets);
  float* sums = log_probs_.data_ptr<float>();
  for (const std::vector<int32_t>& own : rows_.targets) {
    std::vector<double>& values = token_log_probs_.emplace_back();
    for (const int32_t target : own) {
      values.push_back(by_target[static_cast<size_t>(target)]);
      *sums += by_target[static_cast<size_t>(target)];
    }
    ++sums;
  }
}

Tensor RowPass::states() const { return hidden_.index_select(0, state_rows_); }

void RowPass::Backward(const Tensor& by_log_prob, const Tensor& by_states) {
  RowValues by_token;
  for (size_t r = 0; r < rows_.targets.size(); ++r) {
    by_token.emplace_back(rows_.targets[r].size(),
                          by_log_prob[static_cast<int64_t>(r)].item<double>());
  }
  Backward(by_token, by_states);
}

std::vector<Target> RowPass::Weighted(const RowValues& by_token) const {
  std::vector<double> sums(rows_.batch.targets.size());
  for (size_t r = 0; r < by_token.size(); ++r) {
    for (size_t t = 0; t < by_token[r].size(); ++t) {
      sums[static_cast<size_t>(rows_.targets[r][t])] -= by_token[r][t];
    }
  }
  std::vector<Target> targets = rows_.batch.targets;
  for (size_t i = 0; i < targets.size(); ++i) targets[i].weight = static_cast<float>(sums[i]);
  return targets;
}

void RowPass::Backward(const RowValues& by_token, const Tensor& by_states) {
  const Tensor dhidden = at::zeros_like(hidden_);
  if (!rows_.batch.targets.empty()) {
    const Tensor part = hidden_.index_select(0, target_rows_), dpart = at::empty_like(part);
    LinearCrossEntropy(part, network_.head_weight(), Weighted(by_token), 1, dpart,
                       network_.head_gradient());
    dhidden.index_add_(0, target_rows_, dpart);
  }
  if (by_states.defined()) dhidden.index_add_(0, state_rows_, by_states.to(dhidden.dtype()));
  network_.Backward(dhidden);
}

}  // namespace agentr
