// Which bytes of a rendered conversation are each message's own: what it says, and the end of its
// turn. An assistant's own part is what the model has to write after the opening of its turn.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"
#include "lm/chat/jinja/template.h"

namespace agentr {

// What a template's turns look like, as measured on small conversations.
struct TurnShape {
  std::string opening;            // what add_generation_prompt appends
  std::string before_end;         // between an assistant's content and the end of its turn
  std::vector<std::string> ends;  // special tokens that end a turn
  bool assistant_ends = false;    // whether one of them follows what an assistant said
};

// Bytes of Rendered::text, [begin, end).
struct ByteSpan {
  size_t begin = 0;
  size_t end = 0;
};

// One per message; nullopt where a message's part cannot be told. {% generation %} decides where
// the template has it. Otherwise the part begins with the content, or behind the opening of the
// turn where something of the template's stands between (an empty thought), and ends with the
// content, or with the token that ends the turn where it follows.
std::vector<std::optional<ByteSpan>> MessageSpans(const jinja::Rendered& rendered,
                                                  std::span<const Message> conversation,
                                                  const TurnShape& shape);

}  // namespace agentr
