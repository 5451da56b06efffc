// Writes a model folder as a GGUF file, the format of llama.cpp.
#pragma once

#include <filesystem>
#include <memory>

#include "lm/weights/weight_source.h"

namespace agentr {

// Writes the Hugging Face folder `folder`, with its tokenizer and chat template, to `file`, which
// appears completely. Matrices are stored as `type`: F32, F16, BF16, Q8_0 or Q4_0 (F16 where a row
// is no whole number of blocks); norms and biases as F32. `weights`: those of the model, where they
// are not those of the folder. The format cannot say of an added token that it takes spaces around
// it or only whole words, nor of a space before the text that it stands only there (Metaspace with
// "first"): llama.cpp puts one behind special tokens too. Throws FatalError(kFile) for a value
// model, for a family or tokenizer that has no form in a GGUF file (ModelFamily::gguf), and for
// what cannot be read or written.
void ExportGguf(const std::filesystem::path& folder, const std::filesystem::path& file,
                WeightType type, std::shared_ptr<const WeightSource> weights = nullptr);

}  // namespace agentr
