// Conversations to tokens, in the format that a model family was trained on.
//
// The contents of messages are encoded as plain text: what a user or an environment writes can
// never become a special token. The prompt has exactly one BOS where the family has one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/chat_encoder.h"
#include "clients/language_model.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// Immutable and thread-safe.
class ChatTemplate {
 public:
  // `name`: llama-3 | chatml | mistral | plain, or auto: the family that the tokenizer's special
  // tokens and its chat template's text declare. Throws FatalError(kUsage) where none fits, or for
  // an unknown name, naming the four and the flag --chat_template.
  static std::unique_ptr<ChatTemplate> Make(std::string_view name, const Tokenizer& tokenizer);
  virtual ~ChatTemplate() = default;

  virtual std::string_view name() const = 0;

  // With `generation`, followed by what opens the assistant's next turn. An error (kRejected) for
  // an order of roles that the family cannot say.
  virtual Result<ChatTokens> Apply(std::span<const Message> conversation,
                                   bool generation) const = 0;

  // Tokens that end the assistant's turn.
  virtual const std::vector<int32_t>& stop_tokens() const = 0;
};

}  // namespace agentr
