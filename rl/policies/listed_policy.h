// The policy on listed actions of GLAM (Carta et al. 2023): softmax over the actions of
// sum_j ln p(token j | prompt, tokens before it), and the value of the state from the hidden state
// of the last prompt token.
//
// The scores are sums of log-softmax, the paper's formula. The released code summed raw logits,
// with +1 for each padding token, and before that normalised probabilities by the largest one,
// which cannot be sharper than e : 1. All actions of a state, and states with equal beginnings,
// cost each distinct token once.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rl/losses/shared_pass.h"
#include "rl/networks/mlp.h"
#include "rl/policies/actor.h"
#include "rl/policies/policy_model.h"

namespace agentr {

// GLAM's value head: width -> hidden -> hidden -> 1, there with sigmoids. It is trained.
Mlp MakeValueHead(int64_t width, int64_t hidden, Activation activation, uint64_t seed);

// An action for each row of `scores` [rows, actions], drawn from the softmax (row i by
// random.Split(i)) or, if `greedy`, that of the largest score, the first of equal ones; with the
// values [rows] noted beside it. Ends the run if a score or a value is not finite (EndDiverged).
std::vector<Choice> ChooseListed(std::span<const std::string_view> actions,
                                 const at::Tensor& scores, const at::Tensor& values,
                                 const RandomStream& random, bool greedy);

class ListedPolicy : public Actor {
 public:
  // `policy` and `head` (null: values are 0) outlive it. `actions`: the same in every state.
  // `group`: of the job's processes, which divide the rows; null: there is one.
  ListedPolicy(PolicyModel& policy, Mlp* head, std::span<const std::string_view> actions,
               ProcessGroup* group = nullptr);

  struct Scores {
    at::Tensor scores;  // [prompts, actions]
    at::Tensor values;  // [prompts]
  };
  // With `keep`, Backward follows.
  Scores Score(std::span<const std::vector<int32_t>> prompts, bool keep);
  // Adds the gradients of a loss by the last scores and values to those of network and head.
  void Backward(const at::Tensor& by_scores, const at::Tensor& by_values);

  std::vector<Choice> Act(const World& world, std::span<const std::vector<int32_t>> prompts,
                          const RandomStream& random) override;
  int64_t weights_version() const override { return version_; }
  void set_weights_version(int64_t version) { version_ = version; }
  void set_greedy(bool greedy) { greedy_ = greedy; }

  const std::vector<std::vector<int32_t>>& action_ids() const { return actions_; }
  int64_t tokens() const { return tokens_; }  // distinct ones computed so far

 private:
  PolicyModel& policy_;
  Mlp* const head_;
  ProcessGroup* const group_;
  std::vector<std::vector<int32_t>> actions_;
  std::unique_ptr<SharedPass> pass_;  // of the last Score with `keep`
  int64_t version_ = 0;
  int64_t tokens_ = 0;
  bool greedy_ = false;
};

}  // namespace agentr
