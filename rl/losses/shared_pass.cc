#include "rl/losses/shared_pass.h"

#include <utility>

namespace agentr {
namespace {

using at::Tensor;
using Rows = std::span<const TrainingRow* const>;

// The row with which the stretch of rank `rank` of `size` begins.
size_t FirstRow(Rows rows, int rank, int size) {
  int64_t all = 0, before = 0;
  for (const TrainingRow* row : rows) all += static_cast<int64_t>(row->ids.size());
  size_t at = 0;
  while (at < rows.size() && before * size < all * rank) {
    before += static_cast<int64_t>(rows[at++]->ids.size());
  }
  return at;
}

}  // namespace

RowRange OwnRows(const ProcessGroup* group, Rows rows) {
  if (group == nullptr) return {0, rows.size()};
  const int size = group->size(), next = group->rank() + 1;
  return {FirstRow(rows, group->rank(), size),
          next == size ? rows.size() : FirstRow(rows, next, size)};
}

SharedPass::SharedPass(ProcessGroup* group, Network& network, std::span<const TrainingRow> rows,
                       std::span<const RowToken> states, bool keep)
    : SharedPass(group, network, PointersTo(rows), states, keep) {}

SharedPass::SharedPass(ProcessGroup* group, Network& network, Rows rows,
                       std::span<const RowToken> states, bool keep)
    : range_(OwnRows(group, rows)) {
  std::vector<RowToken> own;
  for (size_t i = 0; i < states.size(); ++i) {
    const RowToken& state = states[i];
    if (state.row < range_.begin || state.row >= range_.end) continue;
    own_states_.push_back(static_cast<int64_t>(i));
    own.push_back({state.row - range_.begin, state.token});
  }
  if (range_.begin < range_.end) {
    pass_.emplace(network, rows.subspan(range_.begin, range_.end - range_.begin), own, keep);
    tokens_ = pass_->tokens();
    row_tokens_ = pass_->row_tokens();
  }
  if (group != nullptr) {
    Exchange(*group, rows.size(), states.size(), network.config().hidden_size);
  } else if (pass_) {
    token_log_probs_ = pass_->token_log_probs();
    log_probs_ = pass_->log_probs();
    states_ = pass_->states();
  }
}

// The others' values arrive as sums, to which everybody else contributes zeros.
void SharedPass::Exchange(ProcessGroup& group, size_t rows, size_t states, int64_t width) {
  std::vector<double> counts(rows + 2);  // trained tokens by row; tokens, row tokens
  if (pass_) {
    for (size_t r = range_.begin; r < range_.end; ++r) {
      counts[r] = static_cast<double>(pass_->token_log_probs()[r - range_.begin].size());
    }
  }
  counts[rows] = static_cast<double>(tokens_);
  counts[rows + 1] = static_cast<double>(row_tokens_);
  counts = SumOverRanks(group, std::move(counts));
  tokens_ = static_cast<int64_t>(counts[rows]);
  row_tokens_ = static_cast<int64_t>(counts[rows + 1]);
  std::vector<double> values;
  for (size_t r = 0; r < rows; ++r) {
    if (r >= range_.begin && r < range_.end) {
      const std::vector<double>& own = pass_->token_log_probs()[r - range_.begin];
      values.insert(values.end(), own.begin(), own.end());
    } else {
      values.resize(values.size() + static_cast<size_t>(counts[r]));
    }
  }
  if (!values.empty()) values = SumOverRanks(group, std::move(values));
  log_probs_ = at::zeros({static_cast<int64_t>(rows)}, at::kFloat);
  auto next = values.begin();
  for (size_t r = 0; r < rows; ++r) {
    const auto end = next + static_cast<int64_t>(counts[r]);
    token_log_probs_.emplace_back(next, end);
    for (; next != end; ++next) log_probs_.data_ptr<float>()[r] += static_cast<float>(*next);
  }
  if (states == 0) return;
  states_ = at::zeros({static_cast<int64_t>(states), width}, at::kFloat);
  if (!own_states_.empty()) {
    states_.index_copy_(0, at::tensor(own_states_, at::kLong), pass_->states().to(at::kFloat));
  }
  group.AllReduce(states_)->Wait();
}

Tensor SharedPass::OfOwnStates(const Tensor& by_states) const {
  if (!by_states.defined()) return by_states;
  return by_states.index_select(0, at::tensor(own_states_, at::kLong));
}

void SharedPass::Backward(const Tensor& by_log_prob, const Tensor& by_states) {
  if (!pass_) return;
  const auto begin = static_cast<int64_t>(range_.begin), end = static_cast<int64_t>(range_.end);
  pass_->Backward(by_log_prob.slice(0, begin, end), OfOwnStates(by_states));
}

void SharedPass::Backward(const RowValues& by_token, const Tensor& by_states) {
  if (!pass_) return;
  const auto begin = by_token.begin();
  pass_->Backward(RowValues(begin + static_cast<int64_t>(range_.begin),
                            begin + static_cast<int64_t>(range_.end)),
                  OfOwnStates(by_states));
}

}  // namespace agentr
