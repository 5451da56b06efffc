// The progress of a training run, stored in its checkpoints, and the options that must not change
// during the run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace agentr {

// The inputs that determine a run's result: descriptions with the names of options, and values.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

struct RunState {
  int64_t step = 0;             // finished steps; the next step of the data has this number
  int64_t optimizer_steps = 0;  // finished steps that had rows to train on
  double held_out = 0;          // the last held-out loss
  double best_held_out = 0;
  int64_t best_step = -1;  // -1: no held-out loss yet

  nlohmann::ordered_json ToJson(const Fingerprint& fingerprint) const;
  // Throws FatalError: kUsage naming the first difference if the fingerprint differs or lacks an
  // entry; kFile if fields are missing. `place` names the checkpoint in messages.
  static RunState From(const nlohmann::json& json, const Fingerprint& fingerprint,
                       const std::string& place);
};

}  // namespace agentr
