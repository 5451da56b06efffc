// What the memory of a process of agent_train is for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "training/data/data_options.h"
#include "training/model/network.h"
#include "training/trainer.h"

namespace agentr {

// In bytes; of a job of many processes those of each.
struct MemoryParts {
  int64_t program = 0;  // before the model is opened
  int64_t weights = 0;  // in float32, with copies in the type for computing; adapters too
  int64_t gradients = 0;
  int64_t optimizer = 0;    // moments
  int64_t exchange = 0;     // while gradients are exchanged
  int64_t activations = 0;  // at most: of a micro-batch of --batch_tokens
  int64_t data = 0;         // at most: of the rows of a step and of those that are read ahead

  int64_t Sum() const;
  // A line for people for each part that is not 0, and one for the sum.
  std::vector<std::string> Lines() const;
  nlohmann::ordered_json ToJson() const;  // in GiB
};

// What forward and backward keep of `tokens` tokens, and the largest layer's and the logits' values
// in between. An estimate: the layers' inner values come and go.
int64_t ActivationBytes(const ModelConfig& config, const NetworkOptions& options, int64_t tokens);

// `program_gib`: of the process before it opened the model.
MemoryParts MemoryOf(double program_gib, const Network& network, const TrainingMemory& training,
                     const DataOptions& data);

}  // namespace agentr
