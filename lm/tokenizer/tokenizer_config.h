// What stands beside tokenizer.json: tokenizer_config.json, special_tokens_map.json of older
// folders, and the chat template.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace agentr {

struct TokenizerConfig {
  std::string bos = {};  // spelling; empty without one
  std::string eos = {};
  std::map<std::string, std::string> special_tokens = {};  // bos_token and its like: spellings
  // Of chat_template.jinja, else of tokenizer_config.json, else of chat_template.json.
  std::string chat_template = {};
  std::string chat_template_file = {};  // which of them; empty without a template
};

// All files may be absent. Throws FatalError(kFile) naming file and field for a malformed one.
TokenizerConfig ReadTokenizerConfig(const std::filesystem::path& folder);

}  // namespace agentr
