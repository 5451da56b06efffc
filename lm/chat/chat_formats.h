// The formats of conversations, as the model families publish them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "clients/language_model.h"
#include "common/error.h"
#include "lm/chat/chat_text.h"

namespace agentr {

using Conversation = std::span<const Message>;

// Llama 3 (Meta 2024): <|start_header_id|>role<|end_header_id|>, an empty line, the content without
// white space around it, <|eot_id|>.
struct Llama3Format {
  std::string bos;
  // Llama 3.1 and later begin with a system turn that tells two dates. The second one, which their
  // template takes from the clock or the caller, is always its default here: 26 Jul 2024.
  bool dates = false;

  Result<void> Write(Conversation conversation, bool generation, ChatText& text) const;
};

// ChatML (Qwen, SmolLM): <|im_start|>role, the content on the next line, <|im_end|>.
struct ChatMlFormat {
  std::string bos;             // of the few that have one
  std::string default_system;  // said where the conversation does not begin with a system message
  // Qwen3: what an assistant thought ("<think>…</think>") is left out of all turns before the last
  // user's; after it a turn begins with its thoughts, and the last message even with empty ones.
  bool thoughts = false;

  Result<void> Write(Conversation conversation, bool generation, ChatText& text) const;
};

// Mistral: <s>[INST] user [/INST] assistant</s>. System text stands in a user's turn, before what
// the user says. User and assistant take turns, and the user begins.
struct MistralFormat {
  std::string bos;
  std::string eos;
  std::string before_user;       // "[INST] " and its like, by version
  std::string after_user;        // " [/INST]"
  std::string before_assistant;  // " "
  std::string after_assistant;   // behind EOS; " " in the first version
  bool system_in_last = false;   // the last user's turn; otherwise the first
  bool trim_assistant = false;

  Result<void> Write(Conversation conversation, bool generation, ChatText& text) const;
};

// Our own, for models that come without a template: "### User:", the content on the next line, an
// empty line. The tokenizer's EOS ends an assistant's turn.
struct PlainFormat {
  std::string bos;
  std::string eos;

  Result<void> Write(Conversation conversation, bool generation, ChatText& text) const;
};

}  // namespace agentr
