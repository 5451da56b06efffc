#include "lm/model_folder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/hash.h"
#include "common/json_depth.h"
#include "common/options.h"
#include "lm/found_model.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/model_config.h"
#include "lm/weights/model_path.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

// Everything that determines a model's answers, except its weights.
std::string DescribeFolder(const fs::path& folder, std::string_view chat_template,
                           const DecoderOptions& decoder) {
  std::string text = fmt::format("{} {} {}\n", chat_template, decoder.dtype, decoder.max_context);
  if (decoder.kv_dtype != "auto") text += fmt::format("keys {}\n", decoder.kv_dtype);
  if (IsGguf(folder)) {
    return text + fmt::format("config {}\ntokenizer {}\n",
                              Sha256(GgufConfig(GgufFile(folder)).dump()), TokenizerHash(folder));
  }
  // An export writes the type of its weights into config.json. The weights themselves tell it, and
  // a model keeps its identity whether it was loaded from the export or from the trainer's memory.
  auto config = nlohmann::json::parse(ReadFile(folder / "config.json"));
  config.erase("dtype");
  config.erase("torch_dtype");
  text += fmt::format("config.json {}\n", Sha256(config.dump()));
  for (const char* name : {"generation_config.json", "tokenizer.json", "tokenizer_config.json",
                           "special_tokens_map.json"}) {
    text += fmt::format("{} {}\n", name,
                        fs::exists(folder / name) ? Sha256(ReadFile(folder / name)) : "");
  }
  return text;
}

std::unique_ptr<ChatTemplate> MakeChatTemplate(std::string_view name, const Tokenizer& tokenizer,
                                               const std::string& date, const std::string& kwargs) {
  auto chat = ChatTemplate::Make(name, tokenizer, date, kwargs);
  spdlog::info("chat template: {}", chat->Describe());
  if (const std::string warning = chat->Warning(); !warning.empty()) spdlog::warn("{}", warning);
  return chat;
}

class FolderChatEncoder : public ChatEncoder {
 public:
  FolderChatEncoder(const fs::path& folder, std::string_view chat_template,
                    const std::string& chat_date, const std::string& chat_kwargs)
      : tokenizer_(Tokenizer::Load(folder)),
        chat_(MakeChatTemplate(chat_template, *tokenizer_, chat_date, chat_kwargs)),
        tokenizer_hash_(TokenizerHash(folder)) {}

  Result<ChatTokens> Encode(std::span<const Message> conversation) const override {
    return chat_->Apply(conversation, /*generation=*/false);
  }
  std::string Decode(std::span<const int32_t> ids) const override {
    return tokenizer_->Decode(ids, /*skip_special=*/true);
  }
  std::string tokenizer_hash() const override { return tokenizer_hash_; }
  std::string training_template() const override { return chat_->training_template(); }

 private:
  const std::unique_ptr<Tokenizer> tokenizer_;
  const std::unique_ptr<ChatTemplate> chat_;
  const std::string tokenizer_hash_;
};

}  // namespace

void Declare(OptionSet& set, ModelFolderOptions& o) {
  Declare(set, o.decoder);
  set.Group("Local model");
  set.Add("--base_model", o.base_model,
          "Where --model_dir is an adapter of PEFT's: the model into which it is merged, a folder, "
          "a GGUF file or a named model (default: the base that the adapter names)");
  set.Add("--chat_template", o.chat_template,
          "Format of conversations: auto (the folder's own), llama-3, chatml, mistral or plain "
          "(built in), or a Jinja file");
  set.Add("--chat_date", o.chat_date,
          "Date (YYYY-MM-DD) for templates that contain one, such as Llama 3.2's (default: always "
          "2024-07-26)");
  set.Add(
      "--chat_kwargs", o.chat_kwargs,
      "Variables of the chat template as a JSON object, such as '{\"enable_thinking\": false}'; "
      "to a model on a server they are sent as chat_template_kwargs");
  set.AfterParsing([&o] {
    if (o.chat_kwargs.empty()) return;
    const auto json = ParseJson<nlohmann::ordered_json>(o.chat_kwargs);
    if (!json.is_object()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("--chat_kwargs '{}' is not a JSON object", o.chat_kwargs));
    }
    o.chat_kwargs = json.dump();
  });
  set.Add("--max_batch", o.engine.max_batch, "Completions that run at once; others wait")
      .Min(1)
      .OnlySpeed();
  set.Add("--max_batched_tokens", o.engine.max_batched_tokens,
          "New tokens per step of the model; longer prompts are computed in chunks")
      .Min(1)
      .Formerly("--max_round_tokens")
      .OnlySpeed();
  set.Add("--prefix_cache", o.engine.prefix_cache,
          "Reuse the common beginnings of prompts (false: compute every prompt completely)")
      .OnlySpeed();
}

LoadedModel LoadModel(const fs::path& dir, const std::string& name,
                      const ModelFolderOptions& options,
                      std::shared_ptr<const WeightSource> weights) {
  const FoundModel found = FindModel(dir, options.base_model);
  const fs::path& folder = found.base;
  RequireModel(folder);
  LoadedModel model;
  model.name = name.empty() ? NameOf(dir) : name;
  if (!found.adapter.empty()) {
    spdlog::info("the adapter {} is merged into {}", dir.string(), folder.string());
  }
  model.tokenizer = Tokenizer::Load(folder);
  model.chat = MakeChatTemplate(options.chat_template, *model.tokenizer, options.chat_date,
                                options.chat_kwargs);
  model.stop_tokens = model.chat->stop_tokens();
  const ModelConfig config = ReadModelConfig(folder);
  for (const int32_t token : config.eos_tokens) {
    if (std::ranges::find(model.stop_tokens, token) == model.stop_tokens.end()) {
      model.stop_tokens.push_back(token);
    }
  }
  if (weights == nullptr) weights = OpenWeights(found);
  RequireRows(*model.tokenizer, config.vocab_size, folder);
  model.identify = [described = DescribeFolder(folder, model.chat->identity(), options.decoder)](
                       const WeightSource& source) {
    return Sha256(described + DescribeWeights(source));
  };
  model.identity = model.identify(*weights);
  model.decoder = MakeDecoder(config, weights, options.decoder);
  model.engine = std::make_unique<Engine>(*model.decoder, *model.tokenizer, options.engine);
  return model;
}

std::unique_ptr<ChatEncoder> LoadChatEncoder(const fs::path& folder, std::string_view chat_template,
                                             const std::string& chat_date,
                                             const std::string& chat_kwargs) {
  RequireModel(folder);
  return std::make_unique<FolderChatEncoder>(folder, chat_template, chat_date, chat_kwargs);
}

}  // namespace agentr
