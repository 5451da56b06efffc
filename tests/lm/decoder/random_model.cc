#include "tests/lm/decoder/random_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <list>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/random.h"
#include "lm/weights/half.h"
#include "lm/weights/safetensors.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

void WriteConfig(const std::filesystem::path& folder, const ModelConfig& c) {
  std::string architecture = c.family + "ForCausalLM";
  architecture[0] = static_cast<char>(std::toupper(architecture[0]));
  nlohmann::ordered_json json = {{"architectures", {architecture}},
                                 {"model_type", c.family},
                                 {"hidden_act", "silu"},
                                 {"vocab_size", c.vocab_size},
                                 {"hidden_size", c.hidden_size},
                                 {"intermediate_size", c.intermediate_size},
                                 {"num_hidden_layers", c.num_layers},
                                 {"num_attention_heads", c.num_heads},
                                 {"num_key_value_heads", c.num_kv_heads},
                                 {"head_dim", c.head_dim},
                                 {"max_position_embeddings", c.max_context},
                                 {"rms_norm_eps", c.norm_epsilon},
                                 {"rope_theta", c.rope_theta},
                                 {"tie_word_embeddings", c.tied_embeddings},
                                 {"torch_dtype", NameOf(kTorchTypes, c.weight_type)}};
  if (c.family == "mistral") {
    json["sliding_window"] = nullptr;
    if (c.sliding_window > 0) json["sliding_window"] = c.sliding_window;
  }
  if (c.family == "mixtral") {
    json["num_local_experts"] = c.experts;
    json["num_experts_per_tok"] = c.token_experts;
  }
  if (c.family == "llama") {
    json["attention_bias"] = c.output_bias;
    json["mlp_bias"] = c.mlp_bias;
  }
  WriteFileAtomically(folder / "config.json", json.dump(2));
}

class Maker {
 public:
  Maker(WeightType type, uint64_t seed, double scale) : type_(type), stream_(seed), scale_(scale) {}

  void Norm(const std::string& name, int64_t n) { Add(name, {n}, 1, 0.2); }
  void Linear(const std::string& name, int64_t outputs, int64_t inputs, bool bias) {
    Matrix(name + ".weight", outputs, inputs);
    if (bias) Add(name + ".bias", {outputs}, 0, 0.3);
  }
  void Matrix(const std::string& name, int64_t outputs, int64_t inputs) {
    Add(name, {outputs, inputs}, 0, scale_ / std::sqrt(static_cast<double>(inputs)));
  }
  const std::map<std::string, Weight>& weights() const { return weights_; }

 private:
  void Add(const std::string& name, std::vector<int64_t> shape, double mean, double deviation) {
    int64_t count = 1;
    for (const int64_t n : shape) count *= n;
    std::vector<std::byte>& bytes = bytes_.emplace_back(count * Bytes(type_));
    RandomStream stream = stream_.Split(name);
    for (int64_t i = 0; i < count; ++i) {
      const double centred = (stream.Uniform() - 0.5) * std::sqrt(12.0);
      const auto value = static_cast<float>(mean + deviation * centred);
      const uint16_t half = type_ == WeightType::kF16 ? ToF16(value) : ToBf16(value);
      const void* from = type_ == WeightType::kF32 ? static_cast<const void*>(&value) : &half;
      std::memcpy(bytes.data() + i * Bytes(type_), from, Bytes(type_));
    }
    weights_[name] = {type_, std::move(shape), bytes};
  }

  const WeightType type_;
  const RandomStream stream_;
  const double scale_;
  std::list<std::vector<std::byte>> bytes_;
  std::map<std::string, Weight> weights_;
};

}  // namespace

void WriteRandomModel(const std::filesystem::path& folder, const ModelConfig& c, uint64_t seed,
                      double scale) {
  Maker maker(c.weight_type, seed, scale);
  maker.Matrix("model.embed_tokens.weight", c.vocab_size, c.hidden_size);
  for (int64_t i = 0; i < c.num_layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    const std::string attention = layer + "self_attn.";
    maker.Norm(layer + "input_layernorm.weight", c.hidden_size);
    maker.Linear(attention + "q_proj", c.num_heads * c.head_dim, c.hidden_size, c.qkv_bias);
    maker.Linear(attention + "k_proj", c.num_kv_heads * c.head_dim, c.hidden_size, c.qkv_bias);
    maker.Linear(attention + "v_proj", c.num_kv_heads * c.head_dim, c.hidden_size, c.qkv_bias);
    maker.Linear(attention + "o_proj", c.hidden_size, c.num_heads * c.head_dim, c.output_bias);
    if (c.qk_norm) maker.Norm(attention + "q_norm.weight", c.head_dim);
    if (c.qk_norm) maker.Norm(attention + "k_norm.weight", c.head_dim);
    maker.Norm(layer + "post_attention_layernorm.weight", c.hidden_size);
    for (int64_t e = 0; e < c.experts; ++e) {  // as Mixtral names them
      const std::string expert = fmt::format("{}block_sparse_moe.experts.{}.", layer, e);
      maker.Matrix(expert + "w1.weight", c.intermediate_size, c.hidden_size);
      maker.Matrix(expert + "w3.weight", c.intermediate_size, c.hidden_size);
      maker.Matrix(expert + "w2.weight", c.hidden_size, c.intermediate_size);
    }
    if (c.experts > 0) {
      maker.Matrix(layer + "block_sparse_moe.gate.weight", c.experts, c.hidden_size);
      continue;
    }
    maker.Linear(layer + "mlp.gate_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
    maker.Linear(layer + "mlp.up_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
    maker.Linear(layer + "mlp.down_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  }
  maker.Norm("model.norm.weight", c.hidden_size);
  if (!c.tied_embeddings) maker.Matrix("lm_head.weight", c.vocab_size, c.hidden_size);
  WriteConfig(folder, c);
  WriteWeights(folder, maker.weights());
}

ModelConfig SmallLlama() {
  ModelConfig config;
  config.family = "llama";
  config.vocab_size = 8192;
  config.hidden_size = 512;
  config.intermediate_size = 1408;
  config.num_layers = 6;
  config.num_heads = 8;
  config.num_kv_heads = 4;
  config.head_dim = 64;
  config.max_context = 2048;
  config.tied_embeddings = true;
  return config;
}

ModelConfig LargeLlama() {
  ModelConfig config = SmallLlama();
  config.vocab_size = 65536;
  config.hidden_size = 1024;
  config.intermediate_size = 4096;
  config.num_layers = 24;
  config.num_heads = 16;
  config.weight_type = WeightType::kBF16;
  return config;
}

void BenchModel(const std::string& write_to, const std::string& model_dir,
                const std::function<void(const std::filesystem::path&)>& measure,
                const ModelConfig& config) {
  if (!write_to.empty()) return WriteRandomModel(write_to, config, 1);
  if (!model_dir.empty()) return measure(model_dir);
  const ScratchFolder folder;
  WriteRandomModel(folder.path(), config, 1);
  measure(folder.path());
}

}  // namespace agentr
