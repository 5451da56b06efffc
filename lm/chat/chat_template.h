// Conversations to tokens, in the format that a model was taught: its folder's own chat template.
//
// The contents of messages are encoded as plain text: what a user or an environment writes can
// never become a special token. (In transformers it can: on contents that spell no special token
// the ids are the same.)
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
  // `name`: auto, the template that came with the tokenizer, or one of ours that its special tokens
  // declare where it came with none; llama-3 | chatml | mistral | plain, ours; else a file in
  // Jinja. `date` (YYYY-MM-DD): what strftime_now and, if it is given, date_string tell the
  // template; the default of strftime_now is 2024-07-26, so that equal conversations are equal
  // prompts on any day. Throws FatalError: kUsage for what cannot be chosen, kFile for a template
  // that is not Jinja, needs what our interpreter lacks (with line and column), or does not say
  // what users say.
  static std::unique_ptr<ChatTemplate> Make(std::string_view name, const Tokenizer& tokenizer,
                                            const std::string& date = "");
  virtual ~ChatTemplate() = default;

  virtual std::string_view name() const = 0;  // auto: "own", or the one of ours that is taken
  // For start lines: which template, from where, and what ends a turn.
  virtual std::string Describe() const { return std::string(name()); }
  // What there is to warn of; empty for nothing.
  virtual std::string Warning() const { return ""; }
  // Tells templates apart by what they make of conversations.
  virtual std::string identity() const { return std::string(name()); }
  virtual bool begins_with_bos() const { return true; }

  // With `generation`, followed by what opens the assistant's next turn. An error (kRejected) for
  // what the template refuses, as an order of roles, or fails at; without `generation` also where
  // it cannot be told which part of the text an assistant's message is.
  virtual Result<ChatTokens> Apply(std::span<const Message> conversation,
                                   bool generation) const = 0;

  // Tokens that end the assistant's turn.
  virtual const std::vector<int32_t>& stop_tokens() const = 0;
};

}  // namespace agentr
