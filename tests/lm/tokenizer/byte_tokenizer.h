// Tokenizers for tests.
#pragma once

#include <string>
#include <vector>

#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// Decodes bytes as they are, whether UTF-8 or not.
class PlainTokenizer : public Tokenizer {
 public:
  std::string Decode(std::span<const int32_t> ids, bool skip_special) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (!skip_special || !IsSpecial(id)) text += TokenBytes(id);
    }
    return text;
  }
  const std::string& chat_template() const override { return chat_template_; }

 private:
  const std::string chat_template_;
};

// A token per byte, and the special tokens <eos> and <bos>.
class ByteTokenizer : public PlainTokenizer {
 public:
  static constexpr int32_t kEos = 256;
  static constexpr int32_t kBos = 257;

  std::vector<int32_t> Encode(std::string_view text, SpecialText) const override {
    std::vector<int32_t> ids;
    for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
    return ids;
  }
  std::string TokenBytes(int32_t id) const override {
    if (id == kEos) return "<eos>";
    if (id == kBos) return "<bos>";
    return id >= 0 && id < 256 ? std::string(1, static_cast<char>(id)) : "";
  }
  std::optional<int32_t> Id(std::string_view token) const override {
    if (token == "<eos>") return kEos;
    if (token == "<bos>") return kBos;
    if (token.size() == 1) return static_cast<unsigned char>(token[0]);
    return std::nullopt;
  }
  bool IsSpecial(int32_t id) const override { return id == kEos || id == kBos; }
  int32_t size() const override { return 258; }
  std::optional<int32_t> bos() const override { return kBos; }
  std::optional<int32_t> eos() const override { return kEos; }
};

}  // namespace agentr
