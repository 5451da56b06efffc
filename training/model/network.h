// The trainable network of the families of lm/weights/model_family.h: forward and backward passes
// over a prefix-tree batch.
//
// Every product and every kernel has its own backward pass; there is no graph. For it a layer keeps
// the inputs of products that are expensive to recompute: per token about 2 widths, queries, keys,
// values, and twice the MLP's inner width. With checkpointing it keeps only its own input and runs
// forward again. In the last layer, queries, attention output and MLP are computed only at the
// positions that a loss needs.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lm/weights/model_config.h"
#include "lm/weights/safetensors.h"
#include "training/data/batch.h"
#include "training/model/elementwise.h"
#include "training/model/linear.h"
#include "training/model/tree_attention.h"
#include "training/parameter.h"

namespace agentr {

struct LoraOptions;

struct NetworkOptions {
  at::Device device = at::kCPU;         // where the weights lie and everything is computed
  at::ScalarType type = at::kFloat;     // type of activations and products: float32 or bfloat16
  bool checkpoint_activations = false;  // keep only the inputs of the layers
};

// The indices at which `batch` has targets, in increasing order, each once.
std::vector<int32_t> TargetRows(const Batch& batch);

class Network {
 public:
  // `weights` and `config` belong to the same model. Throws FatalError(kFile) like PlaceWeights
  // and, for numbers that are not finite, RequireFinite.
  Network(const ModelConfig& config, const WeightSource& weights, const NetworkOptions& options);

  // From now on gradients are computed: of all weights, or only of adapters.
  void TrainAll();
  void TrainAdapters(const LoraOptions& lora, uint64_t seed);

  // Updates the copies in the compute type. Call it after each change of parameters.
  void Refresh();

  // The hidden states after the last norm at `rows` (increasing indices): [rows, width] in the
  // compute type. With `keep`, stores the data for Backward. `draw`: number of the dropout draw; 0:
  // none.
  at::Tensor Forward(const Batch& batch, const std::vector<int32_t>& rows, bool keep,
                     uint64_t draw = 0);
  // Takes the gradient of Forward's result and adds to all gradients. Call it once after each
  // Forward with `keep`.
  void Backward(const at::Tensor& dhidden);
  // Backward calls `done` when this batch's gradients of a layer and of all later ones are
  // complete; null: no call.
  void OnLayerDone(std::function<void(int layer)> done) { layer_done_ = std::move(done); }

  const ModelConfig& config() const { return config_; }
  const NetworkOptions& options() const { return options_; }
  // The output projection [vocabulary, width], which is the embedding if they are tied.
  const at::Tensor& head_weight() const;    // in the compute type
  const at::Tensor& head_gradient() const;  // float32; undefined: frozen

  std::vector<Parameter> weights() const;   // all, by Hugging Face's names, without adapters
  std::vector<Parameter> merged() const;    // the same with the adapters' contribution; layers with
                                            // adapters are copied
  std::vector<Parameter> adapters() const;  // by PEFT's names
  std::vector<Parameter> trained() const;   // the parameters with a gradient

 private:
  struct Layer {
    // Those that do not exist have no value.
    Parameter attention_norm, attention_out_norm, mlp_norm, mlp_out_norm, query_norm, key_norm;
    Linear query, key_value, output, gate_up, down;
  };
  // Pointers to those of a layer, which may be constant.
  static auto NormsOf(auto& layer) {
    return std::array{&layer.attention_norm, &layer.attention_out_norm, &layer.mlp_norm,
                      &layer.mlp_out_norm,   &layer.query_norm,         &layer.key_norm};
  }
  static auto LinearsOf(auto& layer) {
    return std::array{&layer.query, &layer.key_value, &layer.output, &layer.gate_up, &layer.down};
  }
  // The data for a layer's backward pass.
  struct Kept {
    at::Tensor x;                         // [tokens, width] the layer's input
    at::Tensor query_values, key_values;  // values before their norms; Qwen3 only
    AttentionInput heads;
    at::Tensor log_sums;
    at::Tensor mixed;    // [rows, heads * head_dim]
    at::Tensor middle;   // [rows, width]: x after attention
    at::Tensor gate_up;  // [rows, 2 * inner]
    // [rows, width]: what attention and the MLP add to x, before the norms behind them; only with
    // these.
    at::Tensor attention_out, mlp_out;
  };
  // What the rotation and the window of a layer need.
  struct View {
    std::optional<AttentionPlan> all, rows;
    RotaryTable table, row_table;
  };

  void Load(const WeightSource& weights);
  at::Tensor Indices(const std::vector<int32_t>& values) const;
  std::vector<Parameter> Collect(bool merge) const;
  bool SomeRows(size_t layer) const { return layer + 1 == layers_.size() && row_index_.defined(); }
  // Layers with a window and those without may differ in it and in their rotation.
  size_t ViewOf(size_t layer) const { return config_.WindowOf(layer) > 0 ? 1 : 0; }
  bool HasWindowRope(size_t view) const { return view == 1 && config_.window_rope_theta > 0; }
  const AttentionPlan& Plan(size_t layer) const {
    const View& view = views_[ViewOf(layer)];
    return SomeRows(layer) ? *view.rows : *view.all;
  }
  // Null: there is no rotation.
  const RotaryTable* KeyTable(size_t layer) const {
    return config_.HasRotary(layer) ? &views_[ViewOf(layer)].table : nullptr;
  }
  const RotaryTable* QueryTable(size_t layer) const {
    if (!config_.HasRotary(layer) || !SomeRows(layer)) return KeyTable(layer);
    return &views_[ViewOf(layer)].row_table;
  }
  at::Tensor Rows(size_t layer, const at::Tensor& x) const {  // the rows that the rest of the layer
                                                              // computes
    return SomeRows(layer) ? x.index_select(0, row_index_) : x;
  }
  void Prepare(const Batch& batch, const std::vector<int32_t>& rows);
  at::Tensor LayerForward(size_t index, const at::Tensor& x, Kept& kept) const;
  void AttentionForward(size_t index, const at::Tensor& y, Kept& kept) const;
  at::Tensor MlpForward(const Layer& layer, Kept& kept) const;
  // A norm of x, which is x where there is none; and its backward pass, which adds to `dx`.
  at::Tensor Norm(const at::Tensor& x, const Parameter& norm) const;
  void NormBackward(const at::Tensor& dy, const at::Tensor& x, const Parameter& norm,
                    const at::Tensor& dx) const;
  // What a norm multiplies by.
  at::Tensor FactorsOf(const Parameter& norm) const;
  // What attention or the MLP computed as it is added to the residual stream, and the gradient of
  // the former. The values before a norm are put into `kept`; the result may be changed in place.
  at::Tensor Branch(const at::Tensor& out, const Parameter& norm, at::Tensor& kept) const;
  at::Tensor BranchBackward(const at::Tensor& dy, const Parameter& norm,
                            const at::Tensor& kept) const;
  at::Tensor LayerBackward(size_t index, const Kept& kept, const at::Tensor& dout);
  void MlpBackward(Layer& layer, const Kept& kept, const at::Tensor& dx);
  at::Tensor AttentionBackward(size_t index, const Kept& kept, const at::Tensor& dbranch,
                               const at::Tensor& y);
  at::Tensor HeadNorm(const at::Tensor& values, const Parameter& norm) const;
  at::Tensor HeadNormBackward(const at::Tensor& dy, const at::Tensor& values,
                              const Parameter& norm) const;

  const ModelConfig config_;
  const NetworkOptions options_;
  Linear embedding_;  // [vocabulary, width]
  Linear head_;       // used if it is not the embedding
  Parameter norm_;
  std::vector<Layer> layers_;
  std::array<at::Tensor, 2> frequencies_;  // by ViewOf: [head_dim / 2]

  // Data of the last Forward.
  std::array<View, 2> views_;      // by ViewOf
  at::Tensor tokens_, row_index_;  // row_index_: undefined if all rows are wanted
  uint64_t draw_ = 0;
  std::function<void(int)> layer_done_;
  std::vector<Kept> kept_;
  at::Tensor last_;  // [rows, width]: input of the last norm
};

}  // namespace agentr
