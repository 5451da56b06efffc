// Makes a prompt in which a model's earlier responses are exactly the token ids that it sampled.
//
// Encoding a response again can divide its text into other tokens than the model sampled. The model
// would then see a history that it did not produce, training would weight other tokens than the
// sampled ones, and the prefix cache would miss from that response on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clients/chat_encoder.h"
#include "clients/language_model.h"
#include "lm/tokenizer/tokenizer.h"

namespace agentr {

struct TurnTokens {
  const Tokenizer& tokenizer;
  const std::vector<int32_t>& stop_tokens;  // tokens that the template writes at the end of a turn
};

// `chat`: the template's encoding of `conversation`. A message's ids in `sampled` replace its span
// if both decode to the content of the message and end the turn in the same way. A response without
// a token that ends the turn (it reached max_tokens) gets the template's. Counts the replaced and
// the re-encoded responses. Sets all of the prompt except `messages`.
PreparedPrompt UseSampledIds(ChatTokens chat, std::span<const Message> conversation,
                             SampledIds sampled, const TurnTokens& turn_tokens);

}  // namespace agentr
