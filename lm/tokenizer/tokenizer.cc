#include "lm/tokenizer/tokenizer.h"

#include "common/utf8.h"

namespace agentr {

EncodedParts Tokenizer::EncodeParts(std::span<const TextPart> parts) const {
  EncodedParts encoded;
  for (const TextPart& part : parts) {
    const std::vector<int32_t> ids = Encode(part.text, part.special);
    const size_t begin = encoded.ids.size();
    encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
    encoded.parts.push_back({begin, encoded.ids.size()});
  }
  return encoded;
}

std::map<std::string, std::string> Tokenizer::special_tokens() const {
  std::map<std::string, std::string> tokens;
  if (bos()) tokens["bos_token"] = TokenBytes(*bos());
  if (eos()) tokens["eos_token"] = TokenBytes(*eos());
  return tokens;
}

std::string IncrementalDecoder::Add(int32_t id) {
  if (skip_special_ && tokenizer_->IsSpecial(id)) return "";
  const std::string bytes = tokenizer_->TokenBytes(id);
  if (bytes.empty()) return "";
  pending_ += begun_ ? bytes : tokenizer_->FirstTokenBytes(id);
  begun_ = true;
  const size_t complete = CompleteLength(pending_);
  const std::string text = ToValidUtf8(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return text;
}

std::string IncrementalDecoder::Finish() {
  const std::string text = ToValidUtf8(pending_);
  pending_.clear();
  return text;
}

}  // namespace agentr
