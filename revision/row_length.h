// How long a row is in tokens, and what is left out of it so that it fits.
#pragma once

#include <cstdint>

#include "clients/chat_encoder.h"
#include "revision/row.h"

namespace agentr {

// FitContext for a row, with its exact length in tokens (EncodeRow) where there is an encoder; with
// none, and for an order of roles that the model's format cannot say, with the estimate. As few
// turns are left out as it takes; false where not even the fewest that must stay fit into
// `max_tokens` (0: no limit).
bool FitRow(Row& row, int dropped_turns, int64_t max_tokens, const ChatEncoder* encoder);

}  // namespace agentr
