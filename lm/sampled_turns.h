// A prompt in which a model's earlier responses are the very token ids that it sampled.
//
// Encoding a response anew can cut its text into other tokens than the model wrote: it would then
// see a history that it did not produce, training would weigh other tokens than those that were
// sampled, and the prefix cache would lose the prompt from that response on.
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
  const std::vector<int32_t>& stop_tokens;  // that the template writes at the end of a turn
};

// `chat`: the template's encoding of `conversation`. The ids of a message in `sampled` take the
// place of its span where both decode to the content of the message and end the turn alike. A
// response without a token that ends the turn (it was cut off at its longest) gets the template's.
// Counts the responses that went in as sampled, and those that stay as they were encoded. Sets all
// of the prompt but `messages`.
PreparedPrompt UseSampledIds(ChatTokens chat, std::span<const Message> conversation,
                             SampledIds sampled, const TurnTokens& turn_tokens);

}  // namespace agentr
