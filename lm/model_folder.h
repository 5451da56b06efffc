// A model from a Hugging Face folder, ready to generate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "clients/chat_encoder.h"
#include "lm/decoder/load_decoder.h"
#include "lm/engine/engine.h"
#include "lm/local_language_model.h"

namespace agentr {

class OptionSet;

struct ModelFolderOptions {
  std::string chat_template = "auto";  // auto | llama-3 | chatml | mistral | plain | a file
  std::string chat_date = "";          // YYYY-MM-DD, for templates that tell the date
  DecoderOptions decoder = {};
  EngineOptions engine = {};
};

// --chat_template, --chat_date, --max_batch, --max_batched_tokens, --prefix_cache and those of the
// decoder.
void Declare(OptionSet& set, ModelFolderOptions& options);

// Named after the folder's last component where `name` is empty. Its identity tells models apart by
// what decides their answers: configuration, tokenizer, chat template, type and context, and the
// names, types, shapes and first 4 KiB of all weights. All their bytes would take as long again as
// loading them, and training leaves no such beginning of all as it was. Throws FatalError: kFile
// for what is missing or wrong in the folder, kUsage for a device or template that is not there.
LoadedModel LoadModel(const std::filesystem::path& folder, const std::string& name,
                      const ModelFolderOptions& options);

// Only the tokenizer and the chat template of the folder. Errors as of LoadModel.
std::unique_ptr<ChatEncoder> LoadChatEncoder(const std::filesystem::path& folder,
                                             std::string_view chat_template,
                                             const std::string& chat_date = "");

}  // namespace agentr
