// Writes metrics.jsonl with one line per optimiser step and per held-out loss, in the order of the
// steps and without repetitions even after kills, and the same values for TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "training/loss/linear_cross_entropy.h"
#include "training/tensorboard.h"

namespace agentr {

// Loss, accuracy and perplexity of the trained tokens, in total and for each kind that occurs.
nlohmann::ordered_json ToJson(const LossSums& sums);

class Metrics {
 public:
  // Continues `folder`/metrics.jsonl after the lines of steps up to `step`; later lines of a killed
  // run are removed. Throws FatalError(kFile).
  Metrics(const std::filesystem::path& folder, int64_t step);

  // `values` begin with "step"; numbers and objects of numbers go to TensorBoard too.
  void Add(const nlohmann::ordered_json& values);

 private:
  std::filesystem::path path_;
  EventFile events_;
};

}  // namespace agentr
