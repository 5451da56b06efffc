// A value of a tokenizer's JSON file together with its place, which every message names.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace agentr {

// It refers to JSON that outlives it. Every error is a FatalError(kFile).
class TokenizerJson {
 public:
  // `place`: its name in messages: the file, then the path of fields.
  TokenizerJson(const nlohmann::json& value, std::string place)
      : value_(&value), place_(std::move(place)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& place() const { return place_; }

  // A missing field is null.
  TokenizerJson operator[](const std::string& name) const;
  bool is_null() const { return value_->is_null(); }

  std::string Text() const;
  std::string Text(const std::string& otherwise) const { return is_null() ? otherwise : Text(); }
  bool Bool(bool otherwise) const;           // `otherwise` for null
  int64_t Int(int64_t otherwise) const;      // the same
  int32_t TokenId() const;                   // an integer from 0 to 2^24 - 1
  std::vector<TokenizerJson> Items() const;  // of an array; empty for null

  // Throws "<place> …"; `problem` continues the sentence.
  [[noreturn]] void Refuse(const std::string& problem) const;
  // "<place>: <kind> '<name>' is not supported".
  [[noreturn]] void RefuseKind(const std::string& kind, const std::string& name) const;

 private:
  const nlohmann::json* value_;
  std::string place_;
};

// Whether a post_processor puts a special token before a text.
bool PutsTokenBefore(const TokenizerJson& post_processor);

// The JSON of a file.
nlohmann::json ParseTokenizerFile(const std::filesystem::path& path);

}  // namespace agentr
