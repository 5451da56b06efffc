// Exports the trained model as a Hugging Face folder that transformers, vLLM and our engine can
// load: weights, config.json with their type, and all other files of the start model's folder.
#pragma once

#include <filesystem>
#include <vector>

#include "training/model/weight_snapshot.h"

namespace agentr {

// The files of a model's folder that an export copies if they exist: the tokenizer's, the chat
// template, generation_config.json and so on, but not the weights and config.json.
std::vector<std::filesystem::path> CompanionFiles(const std::filesystem::path& model_dir);

// Writes `weights` to `folder`, which appears completely and replaces an older one. Throws
// FatalError(kFile).
void ExportModel(const std::filesystem::path& folder, const std::filesystem::path& model_dir,
                 const WeightSnapshot& weights);

}  // namespace agentr
