// The model from which a run of training begins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"
#include "training/distributed/job_fingerprint.h"
#include "training/model/initial_weights.h"

namespace agentr {

class OptionSet;

struct StartModel {
  std::string dir;            // a Hugging Face folder or a GGUF file, or an adapter
  std::string base_model;     // of an adapter; empty: what it names
  bool from_scratch = false;  // use only its shape and tokenizer; the weights are random
  InitialAttention attention = InitialAttention::kRandom;  // of random weights
  std::string adapter;  // that is merged into `dir`; empty: none, or one that is not found yet
};

// Declares --model_dir, --base_model, --from_scratch, --initial_attention.
void Declare(OptionSet& set, StartModel& start);

// The same with the base in `dir` where that was an adapter. Throws FatalError like FindModel, and
// kUsage for a use of an adapter that is not supported: `trains_adapters` with another one.
StartModel Found(const StartModel& start, bool trains_adapters = false);

// The weights of the folder or file, or random ones drawn by `seed`. Throws FatalError.
std::shared_ptr<const WeightSource> FirstWeights(const StartModel& start, const ModelConfig& config,
                                                 uint64_t seed);

// Says, for a GGUF file, of which types its weights are and that they are dequantised; else empty.
std::string DescribeGguf(const StartModel& start);

// A hash of the folder's configuration and its weights (DescribeWeights) or, from scratch, how they
// are drawn. Throws FatalError(kFile).
std::string ModelHash(const StartModel& start);

// What the processes of a job compare of it: ModelHash and the tokenizer. Empty without a folder.
JobFingerprint ModelFingerprint(const StartModel& start);

}  // namespace agentr
