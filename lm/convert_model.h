// A model in another form: a Hugging Face folder, a GGUF file, or either with an adapter merged, as
// a GGUF file or a folder.
#pragma once

#include <filesystem>
#include <string>

#include "common/error.h"
#include "lm/found_model.h"
#include "lm/weights/weight_source.h"

namespace agentr {

class OptionSet;

struct ConvertModelOptions {
  std::string model_dir = "";   // a folder or GGUF file, an adapter, or a named model
  std::string base_model = "";  // of an adapter; empty: what it names
  std::string output = "";      // ends in .gguf: a file; else a folder
  std::string type = "auto";    // auto | f32 | f16 | bf16 | q8_0 | q4_0
};

// Declares --model_dir, --base_model, --output, --type.
void Declare(OptionSet& set, ConvertModelOptions& options);

// Writes `model` to `output`, which appears completely: with the ending .gguf as a GGUF file
// (ExportGguf), else as a folder (ExportModel), whose weights are in memory meanwhile if their type
// changes. Matrices get `type`; in a folder, norms and biases too. Throws FatalError: kUsage if
// `output` is there already or a folder is to have a quantised type; kFile for what cannot be read
// or written.
void ConvertModel(const FoundModel& model, const std::filesystem::path& output, WeightType type);

// Does what the options say and prints what it wrote. `auto` is the model's own type, or BF16 if
// that is quantised. Throws like ConvertModel, FindModel and RequireModel.
ExitCode ConvertModel(const ConvertModelOptions& options);

}  // namespace agentr
