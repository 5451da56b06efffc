// Signs that a policy has collapsed although all its numbers are finite: it always does the same,
// it has jumped away from what it was, nobody can read what it writes, or it has become worse. Such
// a run goes on, but says so, and keeps the last checkpoint without a sign.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct CollapseSign {
  std::string_view name;  // the same for every sign of its kind
  std::string text;       // with the figure and the usual cure
};

// The signs in the metrics of an iteration (Algorithm::Iterate):
//   entropy     of the played choices, below 0.01 nats, where most episodes fail
//   divergence  of the policy after the updates from that before them (`kl`) or before training
//               (`divergence`), above 1 nat; dpo: lost by chosen responses, per token
//   unreadable  more than half of the written actions are blank or have no end; of tasks (grpo):
//               hold no action
//   cut         more than half of the responses in tasks are cut off by the limit of tokens
//   no_signal   no group of episodes has a difference, so that nothing is learned
std::vector<CollapseSign> SignsOfCollapse(const nlohmann::ordered_json& metrics);

// The same, and the signs that several iterations of playing tasks show. Success and entropy of the
// last three iterations are compared with those of the first three:
//   worse      the success has fallen by more than half
//   scattered  the entropy has more than doubled, as that of a policy that forgets how to write
class CollapseWatch {
 public:
  std::vector<CollapseSign> Look(const nlohmann::ordered_json& metrics);

  // For a checkpoint: empty unless tasks were played.
  nlohmann::ordered_json State() const;
  void Restore(const nlohmann::json& state);

 private:
  static constexpr size_t kIterations = 3;

  std::vector<double> successes_, entropies_;  // of the first and the last iterations
};

}  // namespace agentr
