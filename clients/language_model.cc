#include "clients/language_model.h"

namespace agentr {

Usage& Usage::operator+=(const Usage& other) {
  requests += other.requests;
  retries += other.retries;
  prompt_tokens += other.prompt_tokens;
  cached_tokens += other.cached_tokens;
  completion_tokens += other.completion_tokens;
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
