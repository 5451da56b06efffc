// The number of tokens of a conversation as a model counts them.
#pragma once

#include "clients/language_model.h"

namespace agentr {

inline int64_t CountTokens(const LanguageModel& model, std::span<const Message> prompt) {
  return model.Prepare({prompt.begin(), prompt.end()}).value().tokens;
}

}  // namespace agentr
