#include <array>

#include "lm/tokenizer.h"

namespace agentr {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  size_t length = 1;  // bytes: of the character, or of the ill-formed subsequence
  bool valid = false;
  bool complete = true;  // false: the bytes end within what may become a character
};

// The first character of `bytes` (not empty). The second byte's range depends on the first: Unicode
// 15, table 3-7.
Character FirstCharacter(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true, true};
  if (lead < 0xC2 || lead > 0xF4) return {};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {i, false, false};
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF))
      return {i, false, true};
  }
  return {length, true, true};
}

// Moves the complete characters from the beginning of `bytes` to the result.
std::string TakeComplete(std::string& bytes) {
  std::string text;
  size_t at = 0;
  while (at < bytes.size()) {
    const Character next = FirstCharacter(std::string_view(bytes).substr(at));
    if (!next.complete) break;
    text += next.valid ? std::string_view(bytes).substr(at, next.length) : kReplacement;
    at += next.length;
  }
  bytes.erase(0, at);
  return text;
}

}  // namespace

std::string IncrementalDecoder::Add(int32_t id) {
  if (skip_special_ && tokenizer_->IsSpecial(id)) return "";
  std::string bytes = tokenizer_->TokenBytes(id);
  if (!begun_) {
    // Some families begin every text with a space that is not part of it.
    const std::string alone = tokenizer_->Decode(std::array{id}, skip_special_);
    if (bytes.starts_with(' ') && bytes.substr(1) == alone) bytes = alone;
    begun_ = true;
  }
  pending_ += bytes;
  return TakeComplete(pending_);
}

std::string IncrementalDecoder::Finish() {
  const bool incomplete = !pending_.empty();
  pending_.clear();
  return incomplete ? std::string(kReplacement) : "";
}

}  // namespace agentr
