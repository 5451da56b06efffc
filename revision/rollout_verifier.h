// Judges steps by what the policy makes of the states before and behind them: the value of a state
// is the share of continuations, played by the policy on forks of the environment, that come as far
// as the good path (Monte-Carlo estimates of process rewards: Math-Shepherd, Wang et al. 2024; the
// first error found by binary search: OmegaPRM, Luo et al. 2024, arXiv 2406.06592).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/language_model.h"
#include "common/random.h"
#include "revision/first_error.h"
#include "revision/replay.h"
#include "revision/share_estimate.h"
#include "revision/states.h"

namespace agentr {

class OptionSet;

struct RolloutOptions {
  int continuations = 8;  // of each state
  int max_steps = 20;     // turns of a continuation at most
  double temperature = 1.0;
  int max_new_tokens = 500;  // per turn
};

void Declare(OptionSet& set, RolloutOptions& options);

// Of one tree. Used by one thread.
class RolloutVerifier {
 public:
  // All references outlive it. `random`: of the tree.
  RolloutVerifier(const Tree& tree, const StateMap& states, const TaskFamily& family,
                  LanguageModel& policy, Replayer& replayer, const RolloutOptions& options,
                  RandomStream random);

  // The first step of the bad path behind which the policy comes less often to `wanted` than it
  // does from the state where the paths part, by binary search over the path: found only where the
  // two intervals lie apart, so that chance is no error, or an earlier step that the environment
  // refused. At most 2 + log2(steps) states are played from; a state that was is not played from
  // again.
  Result<FirstError> Find(const PathPair& pair, double wanted);

 private:
  FirstError ErrorAt(const PathPair& pair, int node, std::string reason,
                     std::optional<ValueChange> values = {}) const;
  Result<ShareEstimate> ValueOf(int node, double wanted);
  // The reward that one continuation from the state of `node` ends with.
  Result<double> Continue(int node, RandomStream random);
  Result<int> StateFor(int node);

  const Tree& tree_;
  const StateMap& states_;
  const TaskFamily& family_;
  LanguageModel& policy_;
  Replayer& replayer_;
  const RolloutOptions options_;
  const RandomStream random_;
  std::map<int, std::vector<double>> rewards_;  // by state, of its continuations
};

}  // namespace agentr
