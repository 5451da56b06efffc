#include "lm/tokenizer/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"

namespace agentr {

TokenizerJson TokenizerJson::operator[](const std::string& name) const {
  static const nlohmann::json null;
  if (!value_->is_object()) Refuse("is no JSON object");
  const auto found = value_->find(name);
  return {found == value_->end() ? null : *found, place_ + "." + name};
}

std::string TokenizerJson::Text() const {
  if (!IsJson<std::string>(*value_)) Refuse(is_null() ? "is missing" : "is no string");
  return value_->get<std::string>();
}

bool TokenizerJson::Bool(bool otherwise) const {
  if (is_null()) return otherwise;
  if (!IsJson<bool>(*value_)) Refuse("is neither true nor false");
  return value_->get<bool>();
}

int64_t TokenizerJson::Int(int64_t otherwise) const {
  if (is_null()) return otherwise;
  if (!IsJson<int64_t>(*value_)) Refuse("is no integer");
  return value_->get<int64_t>();
}

int32_t TokenizerJson::TokenId() const {
  const int64_t id = Int(-1);
  if (id < 0 || id >= 1 << 24) Refuse("is no token's id: an integer from 0 to 2^24 - 1");
  return static_cast<int32_t>(id);
}

std::vector<TokenizerJson> TokenizerJson::Items() const {
  std::vector<TokenizerJson> items;
  if (is_null()) return items;
  if (!value_->is_array()) Refuse("is no array");
  for (size_t i = 0; i < value_->size(); ++i) {
    items.emplace_back((*value_)[i], place_ + "[" + std::to_string(i) + "]");
  }
  return items;
}

void TokenizerJson::Refuse(const std::string& problem) const {
  throw FatalError(ExitCode::kFile, place_ + " " + problem);
}

void TokenizerJson::RefuseKind(const std::string& kind, const std::string& name) const {
  Refuse("names the " + kind + " '" + name + "', which is not supported");
}

bool PutsTokenBefore(const TokenizerJson& post_processor) {
  if (post_processor.is_null()) return false;
  const std::string type = post_processor["type"].Text();
  if (type == "Sequence")
    return std::ranges::any_of(post_processor["processors"].Items(), PutsTokenBefore);
  if (type != "TemplateProcessing") return false;
  const std::vector<TokenizerJson> parts = post_processor["single"].Items();
  return !parts.empty() && !parts.front()["SpecialToken"].is_null();
}

nlohmann::json ParseTokenizerFile(const std::filesystem::path& path) {
  const std::string text = ReadFile(path);
  RefuseLfsPointer(text, path);
  try {
    return ParseJsonOrThrow(text);
  } catch (const nlohmann::json::exception& error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} is no JSON, or incomplete ({}). Cure: finish the download",
                                 path.string(), PlainFault(error)));
  }
}

}  // namespace agentr
