// Hands the logits of a step to its sequences, on all cores if there are many.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <span>
#include <string>

#include "lm/engine/sampler.h"
#include "lm/engine/sequence.h"

namespace agentr {

// Logits for one sequence.
struct SequenceLogits {
  Sequence* sequence;
  std::span<const float> rows;
  std::string failure;  // the error of the sequence when it read them; empty if none
};

class LogitReader {
 public:
  // Calls Sequence::ConsumeLogits for each.
  void Read(std::span<SequenceLogits> readings);

 private:
  oneapi::tbb::enumerable_thread_specific<Sampler> samplers_;
};

}  // namespace agentr
