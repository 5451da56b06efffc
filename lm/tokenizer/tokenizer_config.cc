#include "lm/tokenizer/tokenizer_config.h"

#include "common/file.h"
#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {
namespace {

// A token is either its spelling or an object with "content".
std::string TokenText(const TokenizerJson& field) {
  return field.value().is_object() ? field["content"].Text() : field.Text("");
}

// One template, or a list of named ones, of which "default" is for conversations.
std::string TemplateText(const TokenizerJson& field) {
  if (!field.value().is_array()) return field.Text("");
  for (const TokenizerJson& item : field.Items()) {
    if (item["name"].Text() == "default") return item["template"].Text();
  }
  field.Refuse("has no template named 'default'");
}

// Adds the tokens of a file to `tokens`, replacing existing ones.
void ReadSpecialTokens(const TokenizerJson& root, std::map<std::string, std::string>& tokens) {
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    if (root[name].is_null()) continue;
    if (const std::string text = TokenText(root[name]); !text.empty()) tokens[name] = text;
  }
}

void TakeTemplate(const std::string& text, const std::string& file, TokenizerConfig& config) {
  if (text.empty()) return;
  config.chat_template = text;
  config.chat_template_file = file;
}

}  // namespace

TokenizerConfig ReadTokenizerConfig(const std::filesystem::path& folder) {
  TokenizerConfig config;
  bool legacy = true;
  // The template of a processor; some folders have only this one.
  if (const auto path = folder / "chat_template.json"; std::filesystem::exists(path)) {
    const nlohmann::json json = ParseTokenizerFile(path);
    const TokenizerJson root(json, path.string());
    TakeTemplate(TemplateText(root["chat_template"]), "chat_template.json", config);
  }
  if (const auto path = folder / "tokenizer_config.json"; std::filesystem::exists(path)) {
    const nlohmann::json json = ParseTokenizerFile(path);
    const TokenizerJson root(json, path.string());
    ReadSpecialTokens(root, config.special_tokens);
    TakeTemplate(TemplateText(root["chat_template"]), "tokenizer_config.json", config);
    legacy = root["added_tokens_decoder"].is_null();
    if (!root["add_bos_token"].is_null()) config.adds_bos = root["add_bos_token"].Bool(false);
  }
  // Like transformers, only if tokenizer_config.json does not list the tokens itself.
  if (const auto path = folder / "special_tokens_map.json";
      legacy && std::filesystem::exists(path)) {
    const nlohmann::json json = ParseTokenizerFile(path);
    ReadSpecialTokens(TokenizerJson(json, path.string()), config.special_tokens);
  }
  if (const auto path = folder / "chat_template.jinja"; std::filesystem::exists(path)) {
    TakeTemplate(ReadFile(path), "chat_template.jinja", config);
  }
  return config;
}

}  // namespace agentr
