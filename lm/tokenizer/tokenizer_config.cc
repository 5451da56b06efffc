#include "lm/tokenizer/tokenizer_config.h"

#include "common/file.h"
#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {
namespace {

// A token is written as its spelling or as an object with "content".
std::string TokenText(const TokenizerJson& field) {
  return field.value().is_object() ? field["content"].Text() : field.Text("");
}

// One text, or a list of named ones of which "default" is for conversations.
std::string TemplateText(const TokenizerJson& field) {
  if (!field.value().is_array()) return field.Text("");
  for (const TokenizerJson& item : field.Items()) {
    if (item["name"].Text() == "default") return item["template"].Text();
  }
  field.Refuse("has no template named 'default'");
}

}  // namespace

TokenizerConfig ReadTokenizerConfig(const std::filesystem::path& folder) {
  TokenizerConfig config;
  const std::filesystem::path path = folder / "tokenizer_config.json";
  if (std::filesystem::exists(path)) {
    const nlohmann::json json = ParseTokenizerFile(path);
    const TokenizerJson root(json, path.string());
    config.bos = TokenText(root["bos_token"]);
    config.eos = TokenText(root["eos_token"]);
    config.chat_template = TemplateText(root["chat_template"]);
  }
  const std::filesystem::path jinja = folder / "chat_template.jinja";
  if (std::filesystem::exists(jinja)) config.chat_template = ReadFile(jinja);
  return config;
}

}  // namespace agentr
