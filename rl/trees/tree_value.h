// The value model of a search: the network with bins of rewards in place of tokens as its outputs
// (lm/local_value_model.h), trained on the average rewards behind the nodes of search trees.
//
// The target of a node is its average reward, divided between the two nearest bins so that their
// mean is exact ("two-hot", Bellemare et al. 2017), and the loss is the cross-entropy, which
// Farebrother et al. (2024) find better than regression.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "training/data/training_row.h"
#include "training/model/network.h"

namespace agentr {

// The bins next to `value` in [0, 1] with their weights, which add up to 1: one or two.
struct BinWeight {
  int32_t bin = 0;
  float weight = 0;
};
std::vector<BinWeight> TwoHot(double value, int bins);

// Writes the folder of a value model that is not trained yet: the model in `from`, whose output
// projection becomes [bins, width] zeros. Throws FatalError.
void MakeValueFolder(const std::filesystem::path& from, const std::filesystem::path& to, int bins);

// A state and the average reward that the search found behind it.
struct ValuedState {
  TrainingRow prompt;  // ends with a token of any kind, before which the value is read
  double value = 0;
};

// How well the network tells the values of states.
struct ValueFit {
  int64_t states = 0;
  double error = 0;        // mean absolute error
  double constant = 0;     // the same of the best constant in hindsight, their median
  double correlation = 0;  // of estimates and values; 0 if either is constant
};
ValueFit MeasureValues(Network& network, std::span<const ValuedState> states, int batch_tokens);

nlohmann::ordered_json ToJson(const ValueFit& fit);

}  // namespace agentr
