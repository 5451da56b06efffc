// A row pass (rl/losses/row_pass.h) whose rows are divided among the processes of a job. Each
// computes a stretch of them of about as many tokens as the others', and all get all
// log-probabilities and hidden states; so everything that follows, up to the derivatives of the
// loss, is the same in all processes. Backward adds to the network's gradient what the process's
// own rows contribute; the sum over the processes is the gradient (Trainer::Update).
//
// All processes construct it with the same rows, in the same order of calls. With a null group it
// is a RowPass.
#pragma once

#include <optional>

#include "rl/losses/row_pass.h"
#include "training/distributed/process_group.h"

namespace agentr {

// A stretch of rows: [begin, end).
struct RowRange {
  size_t begin = 0, end = 0;
};

// The rows that this process computes; all of them without a group.
RowRange OwnRows(const ProcessGroup* group, std::span<const TrainingRow* const> rows);

class SharedPass {
 public:
  // `group` may be null. The others as of RowPass.
  SharedPass(ProcessGroup* group, Network& network, std::span<const TrainingRow* const> rows,
             std::span<const RowToken> states, bool keep);
  SharedPass(ProcessGroup* group, Network& network, std::span<const TrainingRow> rows,
             std::span<const RowToken> states, bool keep);

  // Of all rows and states, as in RowPass.
  const RowValues& token_log_probs() const { return token_log_probs_; }
  const at::Tensor& log_probs() const { return log_probs_; }
  const at::Tensor& states() const { return states_; }

  void Backward(const at::Tensor& by_log_prob, const at::Tensor& by_states);
  void Backward(const RowValues& by_token, const at::Tensor& by_states);

  // Over all processes.
  int64_t tokens() const { return tokens_; }  // distinct ones that were computed
  int64_t row_tokens() const { return row_tokens_; }

 private:
  void Exchange(ProcessGroup& group, size_t rows, size_t states, int64_t width);
  at::Tensor OfOwnStates(const at::Tensor& by_states) const;

  const RowRange range_;
  std::vector<int64_t> own_states_;  // numbers of the states in own rows
  std::optional<RowPass> pass_;      // of the own rows, if there are any
  RowValues token_log_probs_;
  at::Tensor log_probs_;
  at::Tensor states_;
  int64_t tokens_ = 0, row_tokens_ = 0;
};

}  // namespace agentr
