#include "lm/chat/chat_text.h"

#include <algorithm>

namespace agentr {

ChatTokens ChatText::Encode(const Tokenizer& tokenizer, size_t messages) const {
  std::vector<TextPart> parts;
  for (const Part& part : parts_) parts.push_back({part.text, part.special});
  EncodedParts encoded = tokenizer.EncodeParts(parts);
  ChatTokens tokens{std::move(encoded.ids), std::vector<ChatTokens::Span>(messages)};
  std::vector<bool> begun(messages);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].message) continue;
    ChatTokens::Span& span = tokens.messages[*parts_[i].message];
    if (!begun[*parts_[i].message]) span.begin = encoded.parts[i].begin;
    span.end = std::max(span.end, encoded.parts[i].end);
    begun[*parts_[i].message] = true;
  }
  return tokens;
}

}  // namespace agentr
