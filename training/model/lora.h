// Low-rank adapters for the linear layers of a network (LoRA: Hu et al. 2021), equal to PEFT's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "training/parameter.h"

namespace agentr {

class OptionSet;

struct LoraOptions {
  int rank = 0;       // 0: no adapters; all weights are trained
  double alpha = 16;  // an adapter is scaled by alpha / rank
  double dropout = 0;
  bool rank_stabilized = false;  // scale by alpha / sqrt(rank) (Kalajdzievski 2023)
  std::vector<std::string> targets = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                      "gate_proj", "up_proj", "down_proj"};
};

// Declares --lora_rank, --lora_alpha, --lora_dropout, --lora_rslora and --lora_target.
void Declare(OptionSet& set, LoraOptions& options);

// Writes adapter_config.json and adapter_model.safetensors, which PEFT loads with the start model.
// Throws FatalError(kFile).
void WriteAdapters(const std::filesystem::path& folder, const LoraOptions& options,
                   const std::string& base_model, const std::vector<Parameter>& adapters);

}  // namespace agentr
