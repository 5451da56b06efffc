// A model as --model_dir and --base_model name it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lm/weights/weight_source.h"

namespace agentr {

struct FoundModel {
  std::filesystem::path base;     // a Hugging Face folder or a GGUF file
  std::filesystem::path adapter;  // merged into it (lm/weights/adapter.h); empty: none
};

// `dir`: a model, or the folder of an adapter, whose base is `base_model`, if that is given, or
// what the adapter names: a path, from the adapter's folder or from here, or a named model
// (lm/named_model.h). Throws FatalError: kUsage for a `base_model` of a `dir` that is no adapter;
// kFile naming the cure if the base is not there.
FoundModel FindModel(const std::filesystem::path& dir, const std::string& base_model = "");

// The weights of the base, with those of the adapter merged. Throws what OpenWeights and
// MergeAdapter throw.
std::shared_ptr<const WeightSource> OpenWeights(const FoundModel& model);

}  // namespace agentr
