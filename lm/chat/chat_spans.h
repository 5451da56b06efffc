// Finds the bytes of a rendered conversation that belong to each message: its content and the end
// of its turn. An assistant's part is the text that the model writes after the opening of its turn.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"
#include "lm/jinja/template.h"

namespace agentr {

// The form of a template's turns, measured on small conversations.
struct TurnShape {
  std::string opening;            // the text that add_generation_prompt appends
  std::string before_end;         // between an assistant's content and the end of its turn
  std::vector<std::string> ends;  // special tokens that end a turn
  bool assistant_ends = false;    // true if one of them follows an assistant's content
};

// Bytes of Rendered::text, [begin, end).
struct ByteSpan {
  size_t begin = 0;
  size_t end = 0;
};

// One per message; nullopt if a message's part cannot be determined. If the template has {%
// generation %}, that block is the part. Otherwise the part begins with the content, or directly
// after the opening of the turn if the template writes something in between (an empty thought). It
// ends with the token that ends the turn if one follows, else with the content.
std::vector<std::optional<ByteSpan>> MessageSpans(const jinja::Rendered& rendered,
                                                  std::span<const Message> conversation,
                                                  const TurnShape& shape);

}  // namespace agentr
