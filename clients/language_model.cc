#include "clients/language_model.h"

#include <utility>

namespace agentr {

Usage& Usage::operator+=(const Usage& other) {
  AddFields(kUsageFields, other, *this);
  return *this;
}

Result<PreparedPrompt> LanguageModel::Prepare(std::vector<Message> conversation,
                                              SampledIds /*sampled*/) const {
  PreparedPrompt prompt;
  prompt.tokens = EstimateTokens(conversation);
  prompt.messages = std::move(conversation);
  return prompt;
}

Result<CompletionBatch> LanguageModel::CompletePrepared(const PreparedPrompt& prompt, int n,
                                                        const SamplingParams& sampling) {
  return Complete(prompt.messages, n, sampling);
}

int64_t EstimateTokens(std::span<const Message> prompt) {
  int64_t tokens = 0;
  for (const Message& message : prompt) {
    tokens += 4 + static_cast<int64_t>((message.content.size() + 3) / 4);
  }
  return tokens;
}

}  // namespace agentr
