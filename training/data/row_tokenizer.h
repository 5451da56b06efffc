// The tokenizer and the chat template of the trained model.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "lm/chat/chat_template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

struct RowTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat;
  std::string hash;  // SHA-256 of tokenizer.json; empty: token rows of any tokenizer are accepted
};

// `chat_template` and `chat_kwargs`: see ChatTemplate::Make. Throws FatalError.
RowTokenizer LoadRowTokenizer(const std::filesystem::path& model_dir,
                              std::string_view chat_template = "auto",
                              const std::string& chat_kwargs = "");

}  // namespace agentr
