// A row as the tokens that a model is trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "clients/chat_encoder.h"
#include "revision/row.h"

namespace agentr {

struct TokenRow {
  std::vector<int32_t> ids;
  std::vector<bool> trained;                   // by token: the loss mask
  std::vector<std::optional<float>> logprobs;  // by token, where the model sampled it in the search
  ChatTokens::Span revision;  // tokens of the revision turn; empty where there is none
};

// The conversation of the row in the model's format. A response stands in it with the very tokens
// that were sampled in the search, where the tree has them and they are this encoder's tokens for
// the text; all else as the encoder cuts it, in the order of its template, which need not be that of
// the messages. Trained are the own tokens of trained messages, the
// one that ends the turn included. Errors as of ChatEncoder::Encode.
Result<TokenRow> EncodeRow(const Row& row, const ChatEncoder& encoder);

}  // namespace agentr
