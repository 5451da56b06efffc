#include "training/model/lora.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "common/random.h"
#include "lm/weights/safetensors.h"
#include "training/model/network.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace {

using at::Tensor;

// PEFT's initial values: a is uniform in ± 1 / sqrt(inputs), and b is zero.
Tensor RandomA(RandomStream stream, int64_t rank, int64_t inputs) {
  Tensor a = at::empty({rank, inputs}, at::kFloat);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  float* out = a.data_ptr<float>();
  for (int64_t i = 0; i < rank * inputs; ++i) {
    out[i] = static_cast<float>((stream.Uniform() * 2 - 1) * bound);
  }
  return a;
}

bool IsNamed(const std::string& name, const std::string& target) {
  return name == target || name.ends_with("." + target);
}

bool IsTarget(const LoraOptions& options, const std::string& name) {
  return std::ranges::any_of(options.targets,
                             [&](const std::string& target) { return IsNamed(name, target); });
}

double ScaleOf(const LoraOptions& o) {
  return o.alpha / (o.rank_stabilized ? std::sqrt(o.rank) : o.rank);
}

void AddAdapters(Linear& linear, const LoraOptions& options, uint64_t seed) {
  for (size_t part = 0; part < linear.parts(); ++part) {
    const std::string& name = linear.name(part);
    if (!IsTarget(options, name)) continue;
    if (options.rank > linear.inputs()) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("--lora_rank {} is above the width of {}, which is {}: an adapter of such a "
                      "rank has more weights than the layer. Cure: a smaller rank, or 0 to train "
                      "all weights",
                      options.rank, name, linear.inputs()));
    }
    RandomStream stream = RandomStream(seed).Split("lora").Split(name);
    const std::string prefix = "base_model.model." + name;
    Adapter adapter;
    adapter.a.name = prefix + ".lora_A.weight";
    const auto like = linear.weight().options().dtype(at::kFloat);
    adapter.a.value = RandomA(stream.Split("a"), options.rank, linear.inputs()).to(like);
    adapter.b.name = prefix + ".lora_B.weight";
    adapter.b.value = at::zeros({linear.outputs(part), options.rank}, like);
    adapter.scale = ScaleOf(options);
    adapter.dropout = options.dropout;
    adapter.key = stream.Split("dropout").Next();
    linear.AddAdapter(part, std::move(adapter));
  }
}

}  // namespace

void Declare(OptionSet& set, LoraOptions& o) {
  set.Group("Adapters");
  set.Add("--lora_rank", o.rank, "Rank of the adapters; 0: train all weights").Min(0);
  set.Add("--lora_alpha", o.alpha, "Adapters are scaled by alpha / rank").Range(0, 1e6);
  set.Add("--lora_dropout", o.dropout, "Share of an adapter's inputs that is dropped")
      .Range(0, 0.99);
  set.Add("--lora_rslora", o.rank_stabilized, "Scale by alpha / sqrt(rank) instead");
  set.Add("--lora_target", o.targets, "Layers with an adapter (repeatable)");
}

void WriteAdapters(const std::filesystem::path& folder, const LoraOptions& options,
                   const std::string& base_model, const std::vector<Parameter>& adapters) {
  const WeightSnapshot weights("the adapters", adapters, WeightType::kF32);
  WriteSafetensors(folder / "adapter_model.safetensors", weights.weights());
  const nlohmann::ordered_json config = {{"peft_type", "LORA"},
                                         {"task_type", "CAUSAL_LM"},
                                         {"base_model_name_or_path", base_model},
                                         {"r", options.rank},
                                         {"lora_alpha", options.alpha},
                                         {"lora_dropout", options.dropout},
                                         {"use_rslora", options.rank_stabilized},
                                         {"target_modules", options.targets},
                                         {"bias", "none"},
                                         {"fan_in_fan_out", false},
                                         {"inference_mode", true}};
  WriteFileAtomically(folder / "adapter_config.json", config.dump(2) + "\n");
}

void Network::TrainAdapters(const LoraOptions& lora, uint64_t seed) {
  std::vector<std::string> names;
  for (Layer& layer : layers_) {
    for (Linear* linear : LinearsOf(layer)) {
      AddAdapters(*linear, lora, seed);
      for (size_t part = 0; part < linear->parts(); ++part) names.push_back(linear->name(part));
    }
  }
  for (const std::string& target : lora.targets) {
    if (std::ranges::any_of(names, [&](const auto& name) { return IsNamed(name, target); })) {
      continue;
    }
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("--lora_target {} matches no layer of the model, which has q_proj, "
                    "k_proj, v_proj, o_proj, gate_proj, up_proj and down_proj",
                    target));
  }
  Refresh();
}

std::vector<Parameter> Network::adapters() const {
  std::vector<Parameter> all;
  for (const Layer& layer : layers_) {
    for (const Linear* linear : LinearsOf(layer)) linear->AppendAdapters(all);
  }
  return all;
}

}  // namespace agentr
