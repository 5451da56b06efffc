// What stands beside tokenizer.json: tokenizer_config.json and chat_template.jinja.
#pragma once

#include <filesystem>
#include <string>

namespace agentr {

struct TokenizerConfig {
  std::string bos;  // spelling; empty without one
  std::string eos;
  std::string chat_template;  // of chat_template.jinja, else of tokenizer_config.json
};

// Both files may be absent. Throws FatalError(kFile) naming file and field for a malformed one.
TokenizerConfig ReadTokenizerConfig(const std::filesystem::path& folder);

}  // namespace agentr
