// A forward and backward pass of the network over rows of tokens, for losses that are functions of
// log-probabilities and of hidden states: of preferences, of listed actions, of values, of critics.
//
//   RowPass pass(network, rows, states, /*keep=*/true);
//   …a loss of pass.token_log_probs() or log_probs(), and of pass.states(), with its gradients
//   pass.Backward(by_log_probs, by_states);
//
// Rows with equal beginnings are computed once (a prefix tree: training/data/batch.h), so n listed
// actions cost one prompt, and so do the states of one episode. The network runs forward once. A
// first pass of the output projection gives the log-probabilities, a second one turns the
// derivatives of the loss by them into gradients.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "training/data/batch_builder.h"
#include "training/data/training_row.h"
#include "training/model/network.h"

namespace agentr {

// A token of a row, whose hidden state is wanted.
struct RowToken {
  size_t row = 0;
  int32_t token = 0;
};

// A value for each trained token of each row.
using RowValues = std::vector<std::vector<double>>;

class RowPass {
 public:
  // `states`: tokens whose hidden states are wanted besides. With `keep`, stores the data for
  // Backward. The rows' own weights are ignored; the rows are not used after the construction.
  RowPass(Network& network, std::span<const TrainingRow* const> rows,
          std::span<const RowToken> states, bool keep);
  RowPass(Network& network, std::span<const TrainingRow> rows, std::span<const RowToken> states,
          bool keep);

  // ln p of each trained token.
  const RowValues& token_log_probs() const { return token_log_probs_; }
  // float32 [rows]: their sums by row.
  const at::Tensor& log_probs() const { return log_probs_; }
  // [states, width]: the hidden states after the last norm of the wanted tokens.
  at::Tensor states() const;

  // Adds the gradients of a loss to those of the network. `by_log_prob` [rows] and `by_states`
  // [states, width]: its gradients by log_probs() and by states(); the latter may be undefined.
  void Backward(const at::Tensor& by_log_prob, const at::Tensor& by_states);
  // The same for a loss of single tokens: by_token[r][t] by token_log_probs()[r][t].
  void Backward(const RowValues& by_token, const at::Tensor& by_states);

  int64_t tokens() const { return static_cast<int64_t>(rows_.batch.tokens.size()); }  // distinct
  int64_t row_tokens() const { return rows_.batch.row_tokens; }

 private:
  // The targets with the negative derivatives as weights: the gradient of -weight * ln p is then
  // that of the loss. A target of several rows has the sum of their derivatives.
  std::vector<Target> Weighted(const RowValues& by_token) const;

  Network& network_;
  const RowBatch rows_;
  RowValues token_log_probs_;
  at::Tensor log_probs_;
  at::Tensor hidden_;       // [wanted tokens of the batch, width]
  at::Tensor target_rows_;  // of hidden_, those with targets
  at::Tensor state_rows_;   // of hidden_, by state
};

// A row of a state and an action behind it, of which nothing is trained; `tokens` gets the last
// token of the state and that of the action.
void AddPair(const std::vector<int32_t>& state, const std::vector<int32_t>& action,
             std::vector<TrainingRow>& rows, std::vector<RowToken>& tokens);

}  // namespace agentr
