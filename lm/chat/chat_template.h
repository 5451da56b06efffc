// Encodes conversations in the format of the model's training: the chat template of its folder.
//
// The contents of messages are encoded as plain text, so text from a user or an environment never
// becomes a special token. (In transformers it can. For contents that do not spell a special token
// the ids are the same.)
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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
  // `name`: auto is the template that came with the tokenizer, else the built-in one that fits its
  // special tokens; llama-3, chatml, mistral and plain are built in; any other name is a Jinja
  // file. `date` (YYYY-MM-DD) is the value of strftime_now and, if given, of date_string;
  // strftime_now is 2024-07-26 by default, so that equal conversations give equal prompts on every
  // day. `arguments`: a JSON object of further variables, such as {"enable_thinking": false};
  // empty: none. Throws FatalError: kUsage for an unknown choice or bad arguments; kFile for a
  // template that is not Jinja, needs features that our interpreter does not have (with line and
  // column), or does not contain users' messages.
  static std::unique_ptr<ChatTemplate> Make(std::string_view name, const Tokenizer& tokenizer,
                                            const std::string& date = "",
                                            const std::string& arguments = "");
  virtual ~ChatTemplate() = default;

  // The same template, with `arguments` in addition to its own, before those of the same name. It
  // uses the same tokenizer. Throws what Make throws; null if the template takes none.
  virtual std::unique_ptr<ChatTemplate> With(const nlohmann::ordered_json& /*arguments*/) const {
    return nullptr;
  }

  virtual std::string_view name() const = 0;  // for auto: "own", or the name of the built-in one
  // For messages at start-up: the template, its origin, and the end of a turn.
  virtual std::string Describe() const { return std::string(name()); }
  // A warning about the template; empty if there is none.
  virtual std::string Warning() const { return ""; }
  // Differs between templates that render conversations differently.
  virtual std::string identity() const { return std::string(name()); }
  // The template for other trainers (training_template.h); empty if there is none.
  virtual std::string training_template() const { return ""; }
  // True if an assistant's turn is written otherwise once a later turn follows: without its
  // thought, for example. Then the beginning of an encoded conversation is not what the model saw
  // in a turn.
  virtual bool rewrites_turns() const { return false; }

  // Encodes the conversation and, with `generation`, the opening of the assistant's next turn.
  // A message's thought goes where the template has a place for reasoning_content, else into the
  // content, between <think> and </think>. kRejected if the template refuses the conversation (for
  // example its order of roles) or fails; without `generation` also if an assistant's part of the
  // text cannot be determined.
  virtual Result<ChatTokens> Apply(std::span<const Message> conversation,
                                   bool generation) const = 0;

  // Tokens that end the assistant's turn.
  virtual const std::vector<int32_t>& stop_tokens() const = 0;
};

}  // namespace agentr
