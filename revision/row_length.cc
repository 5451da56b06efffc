#include "revision/row_length.h"

#include <algorithm>
#include <limits>

#include "rows/token_row.h"

namespace agentr {

bool FitRow(RowDraft& row, int dropped_turns, int64_t max_tokens, const ChatEncoder* encoder) {
  Trajectory& trajectory = row.trajectory;
  const bool encodes = encoder != nullptr && EncodeRow(MessagesOf(row), *encoder).has_value();
  if (!encodes || max_tokens == 0) return FitContext(trajectory, dropped_turns, max_tokens);
  const auto fits = [&](size_t dropped) {
    FitContext(trajectory, static_cast<int>(dropped), /*max_tokens=*/0);
    const Result<TokenRow> tokens = EncodeRow(MessagesOf(row), *encoder);
    return tokens && std::ssize(tokens->ids) <= max_tokens;
  };
  FitContext(trajectory, std::numeric_limits<int>::max(), /*max_tokens=*/0);
  size_t enough = trajectory.dropped_turns;  // the largest number of turns that may be left out
  size_t too_few = std::min(static_cast<size_t>(dropped_turns), enough);
  if (fits(too_few)) return true;
  if (!fits(enough)) return false;
  // Leaving out more turns makes a row shorter, so the number is found by binary search.
  while (too_few + 1 < enough) {
    const size_t middle = (too_few + enough) / 2;
    (fits(middle) ? enough : too_few) = middle;
  }
  return fits(enough);
}

}  // namespace agentr
