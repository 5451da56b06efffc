// ArCHer's double critic of whole utterances (Zhou et al. 2024): Q_i(state, action) and V_i(state),
// i = 1, 2, on one encoder, with a target copy that follows slowly.
//
// The encoder is a causal network, read at the last token of the state and of the action behind it,
// so one prefix tree computes the states of an episode once. (The reference encodes state and
// action apart with RoBERTa and pools the first token; with a small network from scratch the last
// token learned where the first did not.) Heads: width, or twice the width for Q, -> hidden ->
// hidden -> 1 with ReLU. "Double" means two heads on one encoder, as in the reference.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rl/algorithms/critic_options.h"
#include "rl/losses/critic_loss.h"
#include "rl/losses/shared_pass.h"
#include "rl/networks/mlp.h"
#include "rl/policies/policy_model.h"
#include "training/trainer.h"

namespace agentr {

using TokenIds = std::vector<int32_t>;

// Transitions to learn from; all lists have one item for each.
struct CriticBatch {
  std::vector<TokenIds> states, actions;
  std::vector<TokenIds> target_actions;  // whose target Q is the target of V: the policy's, or the
                                         // data's
  std::vector<TokenIds> next_states;     // of ended episodes: any
  at::Tensor reward, done;               // float32
};

class UtteranceCritic {
 public:
  // `group`: of the job's processes, which divide the rows; null: there is one.
  UtteranceCritic(const AgentRlOptions& options, const ModelConfig& config,
                  ProcessGroup* group = nullptr);

  // [n] each. Ends the run if a value is not finite (EndDiverged).
  DoubleCritic Judge(std::span<const TokenIds> states, std::span<const TokenIds> actions,
                     bool target);
  at::Tensor Advantage(std::span<const TokenIds> states, std::span<const TokenIds> actions) {
    return UtteranceAdvantage(Judge(states, actions, /*target=*/false));
  }

  // One step of the optimiser and of the target copy.
  CriticLoss Learn(const CriticBatch& batch, std::optional<double> expectile);
  int64_t learned_tokens() const { return learned_tokens_; }  // distinct ones of the last step

  Trainer& trainer() { return trainer_; }
  // The target copy. After these have been overwritten, TargetLoaded follows.
  std::vector<Parameter> target_parameters() const;
  void TargetLoaded() { target_.network.Refresh(); }

 private:
  // An encoder with its heads q1, q2, v1, v2.
  struct Side {
    Side(const AgentRlOptions& options, const ModelConfig& config);
    std::vector<Parameter> HeadParameters() const;
    DoubleCritic Heads(const at::Tensor& states, const at::Tensor& actions, bool keep);

    Network network;
    std::array<Mlp, 4> heads;
  };

  CriticTargets TargetsOf(const CriticBatch& batch, std::optional<double> expectile);
  void Backward(SharedPass& pass, const DoubleCritic& gradient);

  const CriticOptions& o_;
  const double gamma_;
  ProcessGroup* const group_;
  Side online_, target_;
  Trainer trainer_;
  int64_t learned_tokens_ = 0;
};

}  // namespace agentr
