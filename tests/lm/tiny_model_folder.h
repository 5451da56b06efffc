// A model folder as a user would have it, with random weights: a Llama of one layer over the
// Llama-3 tokenizer of the goldens.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "common/file.h"
#include "tests/lm/decoder/random_model.h"

namespace agentr {

// With the tokenizer of a golden file, whose ids are below `vocab_size`.
inline void WriteTinyModel(const std::filesystem::path& folder, const nlohmann::json& golden,
                           int vocab_size, uint64_t seed = 1) {
  WriteFileAtomically(folder / "tokenizer.json", golden["tokenizer"].dump());
  WriteFileAtomically(folder / "tokenizer_config.json", golden["tokenizer_config"].dump());
  ModelConfig config;
  config.family = "llama";
  config.vocab_size = vocab_size;
  config.hidden_size = 32;
  config.intermediate_size = 48;
  config.num_layers = 1;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 8;
  config.max_context = 4096;
  config.tied_embeddings = true;
  WriteRandomModel(folder, config, seed);
}

inline void WriteTinyModel(const std::filesystem::path& folder, uint64_t seed = 1) {
  WriteTinyModel(
      folder,
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/tokenizers/llama3.json")),
      706, seed);
}

}  // namespace agentr
