// An adapter of WriteTinyModel's model as agent_train and PEFT write it.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/file.h"
#include "lm/weights/safetensors.h"

namespace agentr {

// The prefix of a tensor's name.
inline const std::string kTinyLayer = "base_model.model.model.layers.0.self_attn.q_proj";

// Of rank 2 and alpha 4 on the queries, whose matrix has `size` rows and columns.
inline void WriteTinyAdapter(const std::filesystem::path& folder, const std::string& base,
                             int64_t size = 32, float amount = 0.2f) {
  std::vector<float> a(2 * size), b(2 * size);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = amount * static_cast<float>(i % 7) - amount;
    b[i] = amount * static_cast<float>(i % 5) - amount;
  }
  WriteSafetensors(
      folder / "adapter_model.safetensors",
      {{kTinyLayer + ".lora_A.weight", {WeightType::kF32, {2, size}, std::as_bytes(std::span(a))}},
       {kTinyLayer + ".lora_B.weight",
        {WeightType::kF32, {size, 2}, std::as_bytes(std::span(b))}}});
  const nlohmann::json config = {
      {"peft_type", "LORA"}, {"base_model_name_or_path", base}, {"r", 2}, {"lora_alpha", 4}};
  WriteFileAtomically(folder / "adapter_config.json", config.dump());
}

}  // namespace agentr
