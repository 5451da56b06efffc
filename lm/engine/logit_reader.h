// Hands the logits of a round to its sequences, on all cores where there are many.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <span>
#include <string>

#include "lm/engine/sampler.h"
#include "lm/engine/sequence.h"

namespace agentr {

// Logits on their way to a sequence.
struct SequenceLogits {
  Sequence* sequence;
  std::span<const float> rows;
  std::string failure;  // why the sequence cannot read them; empty: it has
};

class LogitReader {
 public:
  // Calls Sequence::ConsumeLogits for each.
  void Read(std::span<SequenceLogits> readings);

 private:
  oneapi::tbb::enumerable_thread_specific<Sampler> samplers_;
};

}  // namespace agentr
