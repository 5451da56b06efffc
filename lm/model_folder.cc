#include "lm/model_folder.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/options.h"
#include "lm/model_config.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// "models/small/" and "." have names too.
std::string NameOf(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace

void Declare(OptionSet& set, ModelFolderOptions& o) {
  Declare(set, o.decoder);
  set.Group("Local model");
  set.Add("--chat_template", o.chat_template, "How the model was taught to read conversations")
      .OneOf({"auto", "llama-3", "chatml", "mistral", "plain"});
  set.Add("--max_batch", o.engine.max_batch, "Completions that run at once; more wait").Min(1);
  set.Add("--max_round_tokens", o.engine.max_round_tokens,
          "New tokens per round; longer prompts are taken in pieces")
      .Min(1);
  set.Add("--prefix_cache", o.engine.prefix_cache,
          "Keep what prompts have in common (false: compute every prompt anew)");
}

LoadedModel LoadModel(const fs::path& folder, const std::string& name,
                      const ModelFolderOptions& options) {
  if (!fs::is_directory(folder)) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} is no folder; --model_dir takes a folder with config.json, "
                                 "tokenizer.json and *.safetensors",
                                 folder.string()));
  }
  LoadedModel model;
  model.name = name.empty() ? NameOf(folder) : name;
  model.tokenizer = Tokenizer::Load(folder);
  model.chat = ChatTemplate::Make(options.chat_template, *model.tokenizer);
  model.stop_tokens = model.chat->stop_tokens();
  for (const int32_t token : ReadModelConfig(folder).eos_tokens) {
    if (std::ranges::find(model.stop_tokens, token) == model.stop_tokens.end()) {
      model.stop_tokens.push_back(token);
    }
  }
  model.decoder = LoadDecoder(folder, options.decoder);
  model.engine = std::make_unique<Engine>(*model.decoder, *model.tokenizer, options.engine);
  return model;
}

}  // namespace agentr
