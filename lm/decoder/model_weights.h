// Assigns named weights to their places in a model and checks them against its configuration.
//
// The names are those of Hugging Face's families (lm/weights/model_family.h). A linear layer's
// weight has the shape [outputs, inputs].
#pragma once

#include <deque>
#include <vector>

#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"

namespace agentr {

struct LinearWeights {
  const Weight* weight = nullptr;
  const Weight* bias = nullptr;  // [outputs]; null: none
};

struct MlpWeights {
  LinearWeights gate;  // [intermediate_size, width]
  LinearWeights up;    // as gate
  LinearWeights down;  // [width, intermediate_size]
};

struct LayerWeights {
  const Weight* attention_norm = nullptr;      // [width]; null: none, as for the next three
  const Weight* attention_out_norm = nullptr;  // of what attention adds to the residual stream
  LinearWeights query;                         // [heads * head_dim, width]
  LinearWeights key;                           // [num_kv_heads * head_dim, width]
  LinearWeights value;                         // as key
  LinearWeights output;                        // [width, heads * head_dim]
  const Weight* query_norm = nullptr;          // [head_dim], or of all heads together; null: none
  const Weight* key_norm = nullptr;
  const Weight* mlp_norm = nullptr;      // [width]
  const Weight* mlp_out_norm = nullptr;  // of what the MLP adds
  MlpWeights mlp;                        // none where there are experts
  LinearWeights router;                  // [experts, width]; none without experts, as the next
  std::vector<MlpWeights> experts;
};

struct ModelWeights {
  const Weight* embedding = nullptr;  // [vocabulary, width]
  std::vector<LayerWeights> layers;
  const Weight* norm = nullptr;  // [width]
  LinearWeights output;          // [vocabulary, width]; the embedding if they are tied
  std::deque<Weight> parts;      // rows of fused matrices, to which the layers point
};

// The result points into `source`. Throws FatalError(kFile) naming the source, the weight, both
// shapes and the usual cure if a weight is missing, has a wrong shape, or has no place in the
// model. Tensors that are not parameters are ignored: rotary_emb.inv_freq, and an output that
// equals the embedding to which it is tied.
ModelWeights PlaceWeights(const ModelConfig& config, const WeightSource& source);

}  // namespace agentr
