// The trained model as a Hugging Face folder that transformers, vLLM and our engine load: weights,
// config.json with their type, and everything else that stands in the folder it began from.
#pragma once

#include <filesystem>
#include <vector>

#include "training/model/weight_snapshot.h"

namespace agentr {

// The files of a model's folder beside its weights that an export copies where they are: the
// tokenizer's, the chat template, generation_config.json and the like. config.json is not among
// them.
std::vector<std::filesystem::path> CompanionFiles(const std::filesystem::path& model_dir);

// Writes `weights` to `folder`, which appears as a whole in place of an older one. Throws
// FatalError(kFile).
void ExportModel(const std::filesystem::path& folder, const std::filesystem::path& model_dir,
                 const WeightSnapshot& weights);

}  // namespace agentr
