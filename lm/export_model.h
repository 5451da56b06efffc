// Writes a model as a Hugging Face folder that transformers, vLLM and our engine can load: weights,
// config.json with their type, and all other files of the model from which it was made
// (ModelFiles).
#pragma once

#include <filesystem>

#include "lm/weights/weight_source.h"

namespace agentr {

// Writes `weights`, all of one type, F32, F16 or BF16, to `folder`, with the files of the folder or
// GGUF file `model_dir`. The folder appears completely and replaces an older one. Throws
// FatalError(kFile).
void ExportModel(const std::filesystem::path& folder, const std::filesystem::path& model_dir,
                 const WeightSource& weights);

}  // namespace agentr
