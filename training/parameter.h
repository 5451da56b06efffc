// A trained tensor of the network with its gradient, as the optimiser, the checkpoint and the
// export see it.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace agentr {

struct Parameter {
  std::string name;     // Hugging Face's, or PEFT's for an adapter
  at::Tensor value;     // float32, contiguous: the master copy
  at::Tensor gradient;  // as value: the sum over the micro-batches of a step; undefined: frozen
  bool decays = true;   // false: no weight decay (norms, biases, embeddings)
};

}  // namespace agentr
