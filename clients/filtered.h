// Completions that a server's filter ended.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "clients/language_model.h"
#include "common/text.h"

namespace agentr {

// Whether a filter of the server ended the completion for its contents, by the reasons that OpenAI,
// Anthropic, Gemini, Cohere, GLM and Bedrock give. The same request is filtered again.
inline bool IsFiltered(const Completion& completion) {
  constexpr std::string_view kFilters[] = {
      "content_filter",     "content_filtered", "safety",    "refusal",
      "prohibited_content", "recitation",       "blocklist", "guardrail_intervened",
      "sensitive",          "error_toxic",      "spii",      "language"};
  return std::ranges::find(kFilters, AsciiLower(completion.finish_reason)) != std::end(kFilters);
}

}  // namespace agentr
