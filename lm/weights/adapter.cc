#include "lm/weights/adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string_view>
#include <thread>
#include <vector>

#include "common/file.h"
#include "common/machine_limits.h"
#include "lm/weights/config_fields.h"
#include "lm/weights/quantised.h"
#include "lm/weights/safetensors.h"
#include "lm/weights/safetensors_header.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr std::string_view kPrefix = "base_model.model.";
constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight";

ConfigFields AdapterFields(const fs::path& adapter) {
  const fs::path path = adapter / kAdapterConfig;
  return ConfigFields(path, ParseStrictObject(ReadFile(path), path));
}

// Fields that say of an adapter that it does something else than W + s B A with the weights of the
// base as they are. PEFT writes them as null, false, "none" or an empty list or object where they
// do not.
constexpr std::array<const char*, 14> kOtherKinds = {"use_dora",
                                                     "use_qalora",
                                                     "use_bdlora",
                                                     "lora_bias",
                                                     "bias",
                                                     "fan_in_fan_out",
                                                     "modules_to_save",
                                                     "alpha_pattern",
                                                     "target_parameters",
                                                     "trainable_token_indices",
                                                     "alora_invocation_tokens",
                                                     "layer_replication",
                                                     "megatron_config",
                                                     "arrow_config"};

bool IsOff(const nlohmann::json& value) {
  return value.is_null() || value == false || value == "none" ||
         (value.is_structured() && value.empty());
}

// Initial values for which PEFT also changes the base.
bool ChangesBase(const nlohmann::json& initial) {
  if (!initial.is_string()) return false;
  const auto name = initial.get<std::string>();
  return name.starts_with("pissa") || name == "olora" || name == "corda" || name == "loftq" ||
         name == "lora_ga";
}

void RequireSupported(const ConfigFields& fields) {
  if (const auto type = fields.Get<std::string>("peft_type"); type != "LORA") {
    fields.Refuse("peft_type", fmt::format("is '{}'; LORA is supported", type));
  }
  for (const char* name : kOtherKinds) {
    const nlohmann::json& value = fields.Raw(name);
    if (IsOff(value)) continue;
    fields.Refuse(name,
                  fmt::format("is {}, which is not supported; PEFT's merge_and_unload makes a "
                              "whole model of such an adapter",
                              value.dump()));
  }
  if (const nlohmann::json& initial = fields.Raw("init_lora_weights"); ChangesBase(initial)) {
    fields.Refuse("init_lora_weights",
                  fmt::format("is {}, for which the base has other weights than its own; PEFT's "
                              "merge_and_unload makes a whole model of such an adapter",
                              initial.dump()));
  }
}

// The matrices of a layer that may have an adapter.
bool IsLinear(std::string_view name) {
  constexpr std::string_view kLinears[] = {"q_proj",    "k_proj",    "v_proj",
                                           "o_proj",    "gate_proj", "up_proj",
                                           "down_proj", "qkv_proj",  "gate_up_proj"};
  return name.starts_with("model.layers.") &&
         std::ranges::count(kLinears, name.substr(name.rfind('.') + 1)) > 0;
}

struct LowRank {
  std::vector<float> a, b;
  int64_t rank = 0;
  double scale = 1;
};

// Rows first … end - 1 of w + scale b a, where a row of w has `width` values.
void MergeRows(const Weight& from, const LowRank& low, int64_t first, int64_t end, int64_t width,
               WeightType type, std::byte* to) {
  std::vector<float> row(width), change(width);
  for (int64_t i = first; i < end; ++i) {
    ReadWeight(from, i * width, width, row.data());
    std::ranges::fill(change, 0.0f);
    for (int64_t r = 0; r < low.rank; ++r) {
      const float factor = low.b[i * low.rank + r];
      const float* const a = low.a.data() + r * width;
      for (int64_t c = 0; c < width; ++c) change[c] += factor * a[c];
    }
    for (int64_t c = 0; c < width; ++c) row[c] += static_cast<float>(low.scale) * change[c];
    std::ranges::copy(StoredAs(type, row), to + i * BytesOf(type, width));
  }
}

class MergedWeights : public WeightSource {
 public:
  MergedWeights(const fs::path& adapter, std::shared_ptr<const WeightSource> base)
      : base_(std::move(base)), name_(adapter.string()), weights_(base_->weights()) {
    const ConfigFields fields = AdapterFields(adapter);
    RequireSupported(fields);
    const double alpha = fields.Get<double>("lora_alpha");
    const bool root = fields.Get<bool>("use_rslora", false);
    const WeightFiles file(adapter / "adapter_model.safetensors");
    for (const auto& [name, a] : file.weights()) {
      const std::string layer = LayerOf(name);
      if (name.ends_with(kB)) {
        if (!file.weights().contains(fmt::format("{}{}{}", kPrefix, layer, kA))) {
          Refuse(name, "has no lora_A beside it");
        }
        continue;
      }
      const auto b = file.weights().find(fmt::format("{}{}{}", kPrefix, layer, kB));
      if (b == file.weights().end()) Refuse(name, "has no lora_B beside it");
      Merge(layer, a, b->second, alpha, root);
    }
    if (merged_.empty()) Refuse("adapter_model.safetensors", "has no adapter");
  }

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return base_->immutable(); }
  // The embedding is never merged.
  std::shared_ptr<const void> embedding_keeper() const override {
    const auto keeper = base_->embedding_keeper();
    return keeper != nullptr ? keeper : base_;
  }

 private:
  [[noreturn]] void Refuse(const std::string& name, std::string_view what) const {
    throw FatalError(ExitCode::kFile, fmt::format("{}: {} {}", name_, name, what));
  }

  // "model.layers.0.self_attn.q_proj" of the name of a tensor.
  std::string LayerOf(const std::string& name) const {
    for (const std::string_view end : {kA, kB}) {
      if (!name.starts_with(kPrefix) || !name.ends_with(end)) continue;
      std::string layer = name.substr(kPrefix.size(), name.size() - kPrefix.size() - end.size());
      if (IsLinear(layer)) return layer;
    }
    Refuse(name,
           "is not supported: only adapters (lora_A and lora_B) of q_proj, k_proj, v_proj, o_proj, "
           "gate_proj, up_proj, down_proj, qkv_proj and gate_up_proj are");
  }

  void Merge(const std::string& layer, const Weight& a, const Weight& b, double alpha, bool root) {
    const auto found = weights_.find(layer + ".weight");
    if (found == weights_.end()) {
      Refuse(layer, fmt::format("has an adapter, but is no layer of the base {}", base_->name()));
    }
    Weight& weight = found->second;
    const int64_t rank = a.shape.empty() ? 0 : a.shape[0];
    const std::vector<int64_t>& shape = weight.shape;
    if (rank < 1 || shape.size() != 2 || a.shape != std::vector<int64_t>{rank, shape[1]} ||
        b.shape != std::vector<int64_t>{shape[0], rank}) {
      Refuse(layer, fmt::format("has adapters of the shapes [{}] and [{}], which do not fit [{}], "
                                "the shape in the base {}",
                                fmt::join(a.shape, ", "), fmt::join(b.shape, ", "),
                                fmt::join(shape, ", "), base_->name()));
    }
    const auto r = static_cast<double>(rank);
    const LowRank low{ReadWeight(a), ReadWeight(b), rank, alpha / (root ? std::sqrt(r) : r)};
    const WeightType type = IsQuantised(weight.type) ? WeightType::kBF16 : weight.type;
    const int64_t rows = shape[0], width = shape[1];
    std::vector<std::byte>& bytes = merged_.emplace_back(BytesOf(type, rows * width));
    {
      const int64_t threads = std::clamp<int64_t>(UsableCores(), 1, rows);
      std::vector<std::jthread> team;
      for (int64_t t = 0; t < threads; ++t) {
        team.emplace_back([&, t] {
          MergeRows(weight, low, rows * t / threads, rows * (t + 1) / threads, width, type,
                    bytes.data());
        });
      }
    }
    weight = {type, shape, bytes};
  }

  const std::shared_ptr<const WeightSource> base_;
  const std::string name_;
  std::map<std::string, Weight> weights_;
  std::deque<std::vector<std::byte>> merged_;
};

}  // namespace

bool IsAdapter(const fs::path& folder) {
  return fs::exists(folder / kAdapterConfig) && !fs::exists(folder / "config.json");
}

std::string BaseNameOf(const fs::path& adapter) {
  return AdapterFields(adapter).Get<std::string>("base_model_name_or_path");
}

std::shared_ptr<const WeightSource> MergeAdapter(const fs::path& adapter,
                                                 std::shared_ptr<const WeightSource> base) {
  return std::make_shared<MergedWeights>(adapter, std::move(base));
}

}  // namespace agentr
