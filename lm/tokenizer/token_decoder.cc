#include "lm/tokenizer/token_decoder.h"

#include <charconv>

#include "common/text.h"
#include "lm/tokenizer/byte_level.h"

namespace agentr {
namespace {

using TokenStep = std::function<void(DecodedToken& token)>;

void StripLeft(std::string& text, std::string_view what, int64_t most) {
  for (; most > 0 && text.starts_with(what); --most) text.erase(0, what.size());
}

void StripRight(std::string& text, std::string_view what, int64_t most) {
  for (; most > 0 && text.ends_with(what); --most) text.erase(text.size() - what.size());
}

void ByteLevel(DecodedToken& token) {
  if (const auto bytes = ByteLevelBytes(token.bytes)) token = {*bytes, *bytes};
}

// "<0x41>" is a byte.
void ByteFallback(DecodedToken& token) {
  const std::string_view text = token.bytes;
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return;
  uint8_t byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  if (error != std::errc() || end != text.data() + 5) return;
  const std::string bytes(1, static_cast<char>(byte));
  token = {bytes, bytes};
}

TokenStep ReplaceToken(const TokenizerJson& field) {
  const std::string from = field["pattern"]["String"].Text(), to = field["content"].Text();
  if (from.empty()) field["pattern"].Refuse("is empty");
  return [from, to](DecodedToken& token) {
    ReplaceAll(token.bytes, from, to);
    ReplaceAll(token.first_bytes, from, to);
  };
}

TokenStep Metaspace(const TokenizerJson& field) {
  const std::string from = field["replacement"].Text("▁");
  const bool prefix = field["prepend_scheme"].Text(
                          field["add_prefix_space"].Bool(true) ? "always" : "never") != "never";
  return [from, prefix](DecodedToken& token) {
    ReplaceAll(token.bytes, from, " ");
    ReplaceAll(token.first_bytes, from, prefix ? "" : " ");
  };
}

TokenStep Strip(const TokenizerJson& field, bool fused) {
  const std::string what = field["content"].Text();
  const int64_t start = field["start"].Int(0), stop = field["stop"].Int(0);
  if (what.empty()) field["content"].Refuse("is empty");
  if (!fused) {
    return [what, start, stop](DecodedToken& token) {
      for (std::string* text : {&token.bytes, &token.first_bytes}) {
        StripLeft(*text, what, start);
        StripRight(*text, what, stop);
      }
    };
  }
  if (start > 1 || stop > 0) field.Refuse("strips more than one character of a text's beginning");
  return [what, start](DecodedToken& token) { StripLeft(token.first_bytes, what, start); };
}

}  // namespace

TokenDecoder::TokenDecoder(const TokenizerJson& field) {
  bool fused = false;
  Add(field, fused);
}

void TokenDecoder::Add(const TokenizerJson& field, bool& fused) {
  const std::string type = field["type"].Text();
  if (type == "Sequence") {
    for (const TokenizerJson& item : field["decoders"].Items()) Add(item, fused);
  } else if (fused && type != "Strip" && type != "Fuse") {
    field.Refuse("comes after Fuse, which is not supported");
  } else if (type == "ByteLevel") {
    steps_.push_back(ByteLevel);
    fused = true;
  } else if (type == "ByteFallback") {
    steps_.push_back(ByteFallback);
  } else if (type == "Metaspace") {
    steps_.push_back(Metaspace(field));
  } else if (type == "Replace") {
    steps_.push_back(ReplaceToken(field));
  } else if (type == "Strip") {
    steps_.push_back(Strip(field, fused));
  } else if (type == "Fuse") {
    fused = true;
  } else {
    field.RefuseKind("decoder", type);
  }
}

DecodedToken TokenDecoder::Decode(std::string_view token) const {
  DecodedToken decoded{std::string(token), std::string(token)};
  for (const auto& step : steps_) step(decoded);
  return decoded;
}

}  // namespace agentr
