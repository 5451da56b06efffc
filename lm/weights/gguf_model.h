// A model in a GGUF file as if it were in a Hugging Face folder: the fields of config.json, and the
// weights under their names there and in their order of rows.
#pragma once

#include <nlohmann/json.hpp>

#include "lm/weights/gguf.h"
#include "lm/weights/model_family.h"

namespace agentr {

// The rope_type of frequencies that are divided by "divisors": only in what GgufConfig returns.
inline constexpr std::string_view kDividedRope = "divided";

// The fields of config.json, with the special tokens of generation_config.json. Throws
// FatalError(kFile) naming an architecture that is not supported, with those that are, or a value
// that is missing.
nlohmann::json GgufConfig(const GgufFile& file);

// The name in a GGUF file of a tensor `name` of a folder. Throws FatalError(kFile) for one without.
std::string GgufTensorName(const std::string& name, const ModelFamily& family);

// Llama's files turn neighbouring values of a head instead of its halves, so the rows of queries
// and keys are in another order there, and Gemma's have norms with 1 added; these are copied.
class GgufWeights : public WeightSource {
 public:
  // Throws FatalError(kFile) for a tensor that has no place.
  explicit GgufWeights(std::shared_ptr<const GgufFile> file);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return true; }
  // The embedding is never copied.
  std::shared_ptr<const void> embedding_keeper() const override { return file_; }

 private:
  void PutInHalves(Weight& weight, int64_t heads);
  void SubtractOne(Weight& weight);

  const std::shared_ptr<const GgufFile> file_;
  const std::string name_;
  std::map<std::string, Weight> weights_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace agentr
