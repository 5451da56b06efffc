// How far a training run is, as its checkpoints say it, and what it must not change on the way.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace agentr {

// What decides a run's result, in words of the options, and its value.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

struct RunState {
  int64_t step = 0;             // done; the next step of the data has this number
  int64_t optimizer_steps = 0;  // of them: not skipped
  int64_t skipped = 0;
  double held_out = 0;  // the last held-out loss
  double best_held_out = 0;
  int64_t best_step = -1;  // -1: there was no held-out loss yet

  nlohmann::ordered_json ToJson(const Fingerprint& fingerprint) const;
  // Throws FatalError: kUsage where the fingerprint is another, saying in what; kFile where the
  // fields are not there. `place` names the checkpoint in messages.
  static RunState From(const nlohmann::json& json, const Fingerprint& fingerprint,
                       const std::string& place);
};

}  // namespace agentr
