// metrics.jsonl: a line per optimiser step and per held-out loss, in the order of the steps, each
// once, however often the run was killed; and the same values for TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "training/loss/linear_cross_entropy.h"
#include "training/tensorboard.h"

namespace agentr {

// Loss, accuracy and perplexity of the trained tokens, and both apart for each kind that is there.
nlohmann::ordered_json ToJson(const LossSums& sums);

class Metrics {
 public:
  // Goes on with `folder`/metrics.jsonl behind the lines of steps up to `step`; later lines, which
  // a killed run has left, are removed. Throws FatalError(kFile).
  Metrics(const std::filesystem::path& folder, int64_t step);

  // `values` begin with "step"; numbers and objects of numbers go to TensorBoard too.
  void Add(const nlohmann::ordered_json& values);

 private:
  std::filesystem::path path_;
  EventFile events_;
};

}  // namespace agentr
