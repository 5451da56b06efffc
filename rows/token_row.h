// Encodes a row into the tokens that a model is trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clients/chat_encoder.h"
#include "rows/row.h"

namespace agentr {

struct TokenRow {
  std::vector<int32_t> ids;
  std::vector<bool> trained;                   // by token: the loss mask
  std::vector<std::optional<float>> logprobs;  // by token, if the model sampled it in the search
  ChatTokens::Span revision;  // tokens of the revision turn; empty if there is none
};

// The conversation of the row in the model's format, in the order of its template, which need not
// be that of the messages. A response has exactly the token ids sampled in the search if the tree
// has them, this encoder decodes them to the same text, and no other token than the template's ends
// the turn; everything else is encoded. The tokens
// of trained messages are trained, including the one that ends the turn. Has the errors of
// ChatEncoder::Encode.
Result<TokenRow> EncodeRow(std::span<const RowMessage> messages, const ChatEncoder& encoder);

}  // namespace agentr
