// Fits a row into a limit of tokens by leaving out turns.
#pragma once

#include <cstdint>

#include "clients/chat_encoder.h"
#include "revision/row_draft.h"

namespace agentr {

// Like FitContext, but with the exact length in tokens (EncodeRow). Without an encoder, and for an
// order of roles that the model's format cannot express, the length is estimated. Leaves out as few
// turns as possible; false if even the turns that must stay do not fit into `max_tokens` (0:
// unlimited).
bool FitRow(RowDraft& row, int dropped_turns, int64_t max_tokens, const ChatEncoder* encoder);

}  // namespace agentr
