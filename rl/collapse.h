// Signs that a policy has collapsed although all its numbers are finite: it always does the same,
// it has jumped away from what it was, or nobody can read what it writes. Such a run goes on, but
// says so.
#pragma once

#include <nlohmann/json_fwd.hpp>
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
//   unreadable  more than half of the written actions are blank or have no end
std::vector<CollapseSign> SignsOfCollapse(const nlohmann::ordered_json& metrics);

}  // namespace agentr
