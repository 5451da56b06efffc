// Reads the files beside tokenizer.json: tokenizer_config.json, special_tokens_map.json of older
// folders, and the chat template.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace agentr {

struct TokenizerConfig {
  // Whether BOS stands before a text that is no conversation (add_bos_token); empty: not said.
  std::optional<bool> adds_bos = {};
  std::map<std::string, std::string> special_tokens =
      {};  // bos_token and so on: spellings, none empty
  // From chat_template.jinja, else tokenizer_config.json, else chat_template.json.
  std::string chat_template = {};
  std::string chat_template_file = {};  // the file that contained it; empty without a template
};

// All files may be absent. Throws FatalError(kFile) naming file and field for a malformed one.
TokenizerConfig ReadTokenizerConfig(const std::filesystem::path& folder);

}  // namespace agentr
