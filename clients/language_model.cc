#include "clients/language_model.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/text.h"

namespace agentr {

Usage& Usage::operator+=(const Usage& other) {
  AddFields(kUsageFields, other, *this);
  return *this;
}

bool ReachedLimit(const Completion& completion) {
  // The word of OpenAI's protocol, then those of Anthropic, Gemini, Mistral, GLM and llama.cpp
  // behind servers that translate.
  constexpr std::string_view kLimits[] = {
      "length",     "max_tokens",        "model_length",
      "max_length", "max_output_tokens", "max_completion_tokens",
      "limit",      "incomplete",        "model_context_window_exceeded"};
  return std::ranges::find(kLimits, AsciiLower(completion.finish_reason)) != std::end(kLimits);
}

std::string WithThought(const Message& message) {
  if (message.reasoning.empty()) return message.content;
  return "<think>\n" + message.reasoning + "\n</think>\n\n" + message.content;
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
    tokens += 4 + static_cast<int64_t>((message.content.size() + message.reasoning.size() + 3) / 4);
  }
  return tokens;
}

}  // namespace agentr
