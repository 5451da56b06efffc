// A forward and backward pass of the network over rows of tokens for losses that are not plain sums
// of cross-entropies: of listed actions, of values, of critics.
//
//   RowPass pass(network, rows, /*keep=*/true);
//   pass.LogProb(i)                          // of row i's trained tokens; pass.Hidden(i, t)
//   …a loss, its gradient by LogProb(i): gradients[i], and by hidden states: extra
//   pass.Backward(gradients, extra);
//
// Rows with equal beginnings are computed once (a prefix tree: training/data/batch.h), so n listed
// actions cost one prompt, and so do the states of one episode.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "training/data/training_row.h"
#include "training/model/network.h"

namespace agentr {

// A token of a row, whose hidden state is wanted.
struct RowToken {
  size_t row = 0;
  int32_t token = 0;
};

class RowPass {
 public:
  // `states`: tokens whose hidden states are wanted besides. With `keep`, stores the data for
  // Backward. The rows' own weights are ignored.
  RowPass(Network& network, std::span<const TrainingRow> rows, std::span<const RowToken> states,
          bool keep);

  // float32 [rows]: the sum of ln p over each row's trained tokens.
  const at::Tensor& log_probs() const { return log_probs_; }
  // ln p of each trained token of a row.
  std::vector<float> TokenLogProbs(size_t row) const;
  // [states, width]: the hidden states after the last norm of the wanted tokens.
  at::Tensor states() const;

  // Adds the gradients of a loss to those of the network. `by_log_prob` [rows] and `by_states`
  // [states, width]: its gradients by log_probs() and by states(); the latter may be undefined.
  void Backward(const at::Tensor& by_log_prob, const at::Tensor& by_states);
  // The same for a loss of single tokens: by_token[r][t] by TokenLogProbs(r)[t].
  void Backward(std::span<const std::vector<float>> by_token, const at::Tensor& by_states);

  int64_t tokens() const { return static_cast<int64_t>(batch_.tokens.size()); }
  int64_t row_tokens() const { return batch_.row_tokens; }

 private:
  void FindTargets(std::span<const TrainingRow> rows,
                   const std::vector<std::vector<int32_t>>& paths);
  void SumLogProbs();

  Network& network_;
  Batch batch_;
  std::vector<std::vector<int32_t>> targets_;  // by row: indices in batch_.targets
  std::vector<float> target_log_probs_;
  at::Tensor log_probs_;
  at::Tensor hidden_;       // [wanted tokens of the batch, width]
  at::Tensor target_rows_;  // of hidden_, those with targets
  at::Tensor state_rows_;   // of hidden_, by state
};

// A row of a state and an action behind it, of which nothing is trained; `tokens` gets the last token
// of the state and that of the action.
void AddPair(const std::vector<int32_t>& state, const std::vector<int32_t>& action,
             std::vector<TrainingRow>& rows, std::vector<RowToken>& tokens);

// For each row, the index in `batch` (made of these rows with shared beginnings) of each of its
// tokens.
std::vector<std::vector<int32_t>> PathsOf(const Batch& batch, std::span<const TrainingRow> rows);

}  // namespace agentr
