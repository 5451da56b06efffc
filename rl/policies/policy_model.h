// The policy: a network with its tokenizer, and the texts of states and actions as its tokens.
//
// The tokens of an action are those that were sampled, wherever it was written by the model itself,
// so the scored log-probability is the sampler's. An action that is written freely ends with the
// line's end, which is scored too: the reference never trains where to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lm/tokenizer/tokenizer.h"
#include "rl/transition_store.h"
#include "training/data/training_row.h"
#include "training/model/network.h"
#include "training/model/weight_snapshot.h"

namespace agentr {

struct AgentRlOptions;

class PolicyModel {
 public:
  // Of the folder --model_dir. Throws FatalError.
  explicit PolicyModel(const AgentRlOptions& options);

  Network& network() { return network_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const ModelConfig& config() const { return config_; }
  const TokenSpace& tokens() const { return tokens_; }

  // At most as many tokens as the model has positions; longer prompts lose their beginning.
  std::vector<int32_t> PromptIds(std::string_view text) const;
  std::vector<int32_t> ActionIds(std::string_view text, bool listed) const;

  // A copy of the current weights, with adapters merged. `version`: how many optimiser steps they
  // have had.
  std::shared_ptr<const WeightSnapshot> Snapshot(int64_t version) const;

 private:
  const ModelConfig config_;
  const std::unique_ptr<Tokenizer> tokenizer_;
  const TokenSpace tokens_;
  Network network_;
};

// prompt + action, of which the action is trained.
TrainingRow ActionRow(const std::vector<int32_t>& prompt, const std::vector<int32_t>& action,
                      float weight = 1);

}  // namespace agentr
