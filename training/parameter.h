// A trained tensor of the network with its gradient, for the optimiser, the checkpoint and the
// export.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace agentr {

struct Parameter {
  std::string name;     // Hugging Face's name, or PEFT's for an adapter
  at::Tensor value;     // float32, contiguous: the master copy
  at::Tensor gradient;  // shape of value: the sum over the micro-batches of a step; undefined:
                        // frozen
  bool decays = true;   // false: no weight decay (norms, biases, embeddings)
};

}  // namespace agentr
