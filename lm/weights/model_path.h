// Whether a path can be opened as a model.
#pragma once

#include <filesystem>

namespace agentr {

// Returns if `path` is a GGUF file or a folder with config.json and tokenizer.json; what else is
// missing tells its reader. Throws FatalError(kFile) that says what the path is instead (the name
// of a model on Hugging Face, a folder of its cache, an adapter, a folder of checkpoints or of GGUF
// files) and what to give.
void RequireModel(const std::filesystem::path& path);

}  // namespace agentr
