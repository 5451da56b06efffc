// The tokenizer in a GGUF file as if it were in a Hugging Face folder: tokenizer.json and the
// special tokens and chat template of tokenizer_config.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lm/tokenizer/tokenizer_config.h"
#include "lm/tokenizer/tokenizer_json.h"
#include "lm/weights/gguf.h"

namespace agentr {

// Byte-level BPE ("gpt2"), whose division into pieces is known by its name (tokenizer.ggml.pre),
// and SentencePiece BPE with scores and fallback to bytes ("llama"): every way to join two pieces
// to a third is a merge, and the one whose result has the highest score comes first. Throws
// FatalError(kFile) naming a kind that is not supported, with those that are, or a value that is
// missing.
nlohmann::json GgufTokenizerJson(const GgufFile& file);

TokenizerConfig GgufTokenizerConfig(const GgufFile& file);

// The other way: what a GGUF file has of a tokenizer.json.
struct GgufVocabulary {
  std::string model;                // "gpt2" | "llama"
  std::string pre;                  // of gpt2: how a text is divided into pieces
  std::vector<std::string> tokens;  // by id
  std::vector<int32_t> types;
  std::vector<std::string> merges;  // of gpt2
  std::vector<float> scores;        // of llama: the first merge has the highest
  bool space_prefix = false;
  bool adds_bos = false;  // tokenizer.json puts a token before every text
};

// `size`: the number of tokens of the model; those that the tokenizer does not have are filled in
// as unused ones. Throws FatalError(kFile) for a tokenizer that has no form in a GGUF file.
GgufVocabulary VocabularyForGguf(const TokenizerJson& tokenizer, int64_t size);

}  // namespace agentr
