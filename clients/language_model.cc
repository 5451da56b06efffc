#include "clients/language_model.h"

namespace agentr {

Usage& Usage::operator+=(const Usage& other) {
  AddFields(kUsageFields, other, *this);
  return *this;
}

int64_t LanguageModel::CountTokens(std::span<const Message> prompt) const {
  int64_t tokens = 0;
  for (const Message& message : prompt) {
    tokens += 4 + static_cast<int64_t>((message.content.size() + 3) / 4);
  }
  return tokens;
}

}  // namespace agentr
