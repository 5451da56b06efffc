// Rows in tokens: the loss mask of a conversation by the token spans of the model's chat template.
//
// Trained are the own tokens of a trained message: its content and the token that ends the turn,
// without the header that opens it. Token rows are taken as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "training/data/parsed_row.h"
#include "training/data/row_tokenizer.h"
#include "training/data/training_row.h"

namespace agentr {

enum class TooLong { kDrop, kCut, kError };

// "drop", "cut", "error".
TooLong ParseTooLong(std::string_view name);

// What was read, all together; a row that is too long is never passed over in silence.
struct RowCounts {
  int64_t rows = 0;           // that were read
  int64_t cut = 0;            // of them: oldest turns are left out
  int64_t dropped_turns = 0;  // of the rows that were cut
  int64_t dropped = 0;  // of them: left out, longer than max_length (also where what is trained
                        // is by itself)
  int64_t tokens = 0;   // of the rows that are trained on
  int64_t trained = 0;  // of these tokens

  RowCounts& operator+=(const RowCounts& other);
  bool operator==(const RowCounts&) const = default;
};

// Thread-safe. The tokenizer outlives it.
class RowEncoder {
 public:
  RowEncoder(const RowTokenizer& text, int max_length, TooLong too_long)
      : text_(&text), max_length_(max_length), too_long_(too_long) {}

  // True, with the row in tokens; false where it is too long and left out. kCut leaves out whole
  // turns (an untrained assistant message and what follows it up to the next), the oldest after the
  // first observation first, as path_collect does; token rows cannot be cut. Throws
  // FatalError(kFile) with the reason and the cure: a template that cannot say the conversation or
  // mark where a turn ends, text or token rows that bring a BOS of their own, a token row of
  // another tokenizer, a row that is too long (kError).
  bool Encode(const ParsedRow& row, TrainingRow& tokens, RowCounts& counts) const;

 private:
  bool EncodeConversation(const ParsedRow& row, TrainingRow& tokens, RowCounts& counts) const;
  bool EncodeTokens(const ParsedRow& row, TrainingRow& tokens) const;
  bool Fits(const TrainingRow& tokens) const;

  const RowTokenizer* text_;
  int max_length_;
  TooLong too_long_;
};

}  // namespace agentr
