// Encodes a rendered conversation.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lm/chat/chat_spans.h"
#include "lm/chat/chat_template.h"
#include "lm/jinja/template.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

// The contents of messages are encoded as plain text, the rest with special tokens. A message's
// tokens are those that contain a byte of its span; a message without a span has none.
ChatTokens EncodeRendered(const jinja::Rendered& rendered,
                          std::span<const std::optional<ByteSpan>> spans,
                          const Tokenizer& tokenizer);

}  // namespace agentr
