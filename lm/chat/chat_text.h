// A rendered conversation as tokens.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lm/chat/chat_spans.h"
#include "lm/chat/chat_template.h"
#include "lm/chat/jinja/template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// What messages said is encoded as plain text, all else with special tokens. A message's tokens are
// those that hold any byte of its span; without a span they are none.
ChatTokens EncodeRendered(const jinja::Rendered& rendered,
                          std::span<const std::optional<ByteSpan>> spans,
                          const Tokenizer& tokenizer);

}  // namespace agentr
