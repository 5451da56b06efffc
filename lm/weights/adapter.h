// Low-rank adapters (LoRA: Hu et al. 2021) in PEFT's form, and their base with them merged into it:
// each matrix W with an adapter becomes W + s B A, with s = alpha / r or, with use_rslora, alpha /
// sqrt(r) (Kalajdzievski 2023).
//
// A folder has adapter_config.json and adapter_model.safetensors, with A [r, inputs] as
// base_model.model.NAME.lora_A.weight and B [outputs, r] as base_model.model.NAME.lora_B.weight.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lm/weights/weight_source.h"

namespace agentr {

// Whether the folder is an adapter and no model.
bool IsAdapter(const std::filesystem::path& folder);

// The base as the adapter names it: a path, or a name on Hugging Face. Throws FatalError(kFile) if
// it names none.
std::string BaseNameOf(const std::filesystem::path& adapter);

// The weights of `base`, those with an adapter merged with it: in their own type, or in bfloat16 if
// they were quantised. Immutable; keeps `base`. Throws FatalError(kFile) naming what is not
// supported (DoRA, trained biases, embeddings and other whole modules, …), or the layer that the
// base has not or has in another shape.
std::shared_ptr<const WeightSource> MergeAdapter(const std::filesystem::path& adapter,
                                                 std::shared_ptr<const WeightSource> base);

}  // namespace agentr
