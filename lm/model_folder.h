// Loads a model from a Hugging Face folder or a GGUF file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "clients/chat_encoder.h"
#include "lm/decoder/load_decoder.h"
#include "lm/engine/engine.h"
#include "lm/local_language_model.h"
#include "lm/weights/weight_source.h"

namespace agentr {

class OptionSet;

struct ModelFolderOptions {
  std::string chat_template = "auto";  // auto | llama-3 | chatml | mistral | plain | a file
  std::string chat_date = "";          // YYYY-MM-DD, for templates that contain the date
  std::string chat_kwargs = "";        // a JSON object of variables of the template; empty: none
  std::string base_model = "";         // of a folder that is an adapter; empty: what it names
  DecoderOptions decoder = {};
  EngineOptions engine = {};
};

// Declares --base_model, --chat_template, --chat_date, --chat_kwargs, --max_batch,
// --max_batched_tokens, --prefix_cache and the options of the decoder.
void Declare(OptionSet& set, ModelFolderOptions& options);

// A model, or an adapter (found_model.h), which has the tokenizer and the template of its base. If
// `name` is empty, the model gets the folder's name. Its identity is a hash of everything that
// determines its answers: configuration, tokenizer, chat template, type and context, and the names,
// types, shapes and first 4 KiB of all weights. (Hashing all bytes would double the loading time,
// and training changes the beginning of some weight.) Throws FatalError: kFile if something in the
// folder is missing or wrong, kUsage for an unknown device or template. `weights`: those of the
// model, where they are not those of the folder.
LoadedModel LoadModel(const std::filesystem::path& folder, const std::string& name,
                      const ModelFolderOptions& options,
                      std::shared_ptr<const WeightSource> weights = nullptr);

// Loads only the tokenizer and the chat template of the folder. Throws what LoadModel throws.
std::unique_ptr<ChatEncoder> LoadChatEncoder(const std::filesystem::path& folder,
                                             std::string_view chat_template,
                                             const std::string& chat_date = "",
                                             const std::string& chat_kwargs = "");

}  // namespace agentr
