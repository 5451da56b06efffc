// A conversation's text while a chat template writes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lm/chat/chat_template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

class ChatText {
 public:
  // Text of the template, with special tokens; it may belong to a message, as the end of a turn.
  void Add(std::string text, std::optional<size_t> message = std::nullopt) {
    parts_.push_back({std::move(text), SpecialText::kToken, message});
  }
  // What message number `message` says.
  void AddContent(std::string text, size_t message) {
    parts_.push_back({std::move(text), SpecialText::kPlain, message});
  }

  // A message's span reaches from the first token of its parts to the last.
  ChatTokens Encode(const Tokenizer& tokenizer, size_t messages) const;

 private:
  struct Part {
    std::string text;
    SpecialText special;
    std::optional<size_t> message;
  };
  std::vector<Part> parts_;
};

}  // namespace agentr
