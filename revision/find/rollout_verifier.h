// Judges steps by the policy's success from the states before and after them. The value of a state
// is the share of continuations, played by the policy on forks of the environment, that reach the
// good path's reward (Monte Carlo estimates of process rewards: Math-Shepherd, Wang et al. 2024).
// The first error is found by binary search (OmegaPRM, Luo et al. 2024, arXiv 2406.06592).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/random.h"
#include "revision/find/first_error.h"
#include "revision/find/replayer.h"
#include "revision/find/share_estimate.h"
#include "revision/find/states.h"

namespace agentr {

class OptionSet;

struct RolloutOptions {
  int continuations = 8;  // from each state
  int max_steps = 20;     // largest number of turns of a continuation
  double temperature = 1.0;
  int max_new_tokens = 500;  // per turn
  int max_context = 8192;    // tokens of prompt and response together; 0: the model's own limit
};

void Declare(OptionSet& set, RolloutOptions& options);

// Of one tree. Used by one thread.
class RolloutVerifier {
 public:
  // All references outlive it. `random` is the tree's stream.
  RolloutVerifier(const Tree& tree, const StateMap& states, const TaskFamily& family,
                  LanguageModel& policy, Replayer& replayer, const RolloutOptions& options,
                  RandomStream random);

  // The first error is the first step of the bad path after which the policy reaches `wanted` less
  // often than from the state where the paths part, or an earlier step that the environment
  // refused. It is found by binary search, and only if the two confidence intervals do not overlap,
  // so that chance is not an error. Plays from at most 2 + log2(steps) states, from each only once.
  Result<FirstError> Find(const PathPair& pair, double wanted);

 private:
  FirstError ErrorAt(const PathPair& pair, int node, std::string reason,
                     std::optional<ValueChange> values = {}) const;
  Result<ShareEstimate> ValueOf(int node, double wanted);
  // The final reward of one continuation from the state of `node`. Prompts that do not fit into the
  // context leave out the oldest turns. A cut turn (rollout/cut_turns.h) ends the continuation with
  // its present reward.
  Result<double> Continue(int node, RandomStream random);
  Result<Completion> Respond(std::span<const Message> conversation,
                             const SamplingParams& sampling) const;
  Result<int> StateFor(int node);

  const Tree& tree_;
  const StateMap& states_;
  const TaskFamily& family_;
  LanguageModel& policy_;
  Replayer& replayer_;
  const RolloutOptions options_;
  const RandomStream random_;
  std::map<int, std::vector<double>> rewards_;  // rewards of continuations, by state
};

}  // namespace agentr
