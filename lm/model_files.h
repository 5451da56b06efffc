// The text files of a model: what a Hugging Face folder has beside the weights.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace agentr {

// By name: config.json, tokenizer.json, tokenizer_config.json, generation_config.json and so on, as
// far as they are there. Those of a GGUF file are made from its values: its tokenizer keeps its
// hash (TokenizerHash), and the type in config.json is bfloat16. Throws FatalError(kFile) for a
// value that has no form in a folder.
std::map<std::string, std::string> ModelFiles(const std::filesystem::path& model);

}  // namespace agentr
