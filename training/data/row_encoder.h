// Encodes rows into tokens; the loss mask of a conversation comes from the token spans of the
// model's chat template.
//
// The trained tokens of a trained message are its content and the token that ends the turn, without
// the header that opens it. Token rows are used unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/sum_fields.h"
#include "training/data/data_options.h"
#include "training/data/parsed_row.h"
#include "training/data/row_tokenizer.h"
#include "training/data/training_row.h"

namespace agentr {

// Counts of the rows read; a row that is too long is always counted.
struct RowCounts {
  int64_t rows = 0;           // rows read
  int64_t cut = 0;            // rows whose oldest turns were left out
  int64_t dropped_turns = 0;  // turns left out of these rows
  int64_t dropped = 0;  // rows left out because they are longer than max_length (even the trained
                        // part alone, if rows are cut)
  int64_t tokens = 0;   // tokens of the rows that are used
  int64_t trained = 0;  // trained tokens among them
  // Of the rows that are used: those with trained turns that the chat template writes otherwise
  // once later turns follow, and the tokens of these turns as the model writes them.
  int64_t rewritten = 0;
  int64_t rewritten_tokens = 0;

  RowCounts& operator+=(const RowCounts& other);
  bool operator==(const RowCounts&) const = default;
};
inline constexpr std::array<SumField<RowCounts>, 8> kRowCountFields = {
    {{"rows", &RowCounts::rows},
     {"cut", &RowCounts::cut},
     {"dropped_turns", &RowCounts::dropped_turns},
     {"dropped", &RowCounts::dropped},
     {"tokens", &RowCounts::tokens},
     {"trained", &RowCounts::trained},
     {"rewritten", &RowCounts::rewritten},
     {"rewritten_tokens", &RowCounts::rewritten_tokens}}};
static_assert(NamesEveryField(kRowCountFields));

// Thread-safe. The tokenizer outlives it.
class RowEncoder {
 public:
  // `each_turn`: what EncodeTurns does with turns that the chat template rewrites.
  RowEncoder(const RowTokenizer& text, int max_length, TooLong too_long, bool each_turn = false)
      : tokenizer_(&text), max_length_(max_length), too_long_(too_long), each_turn_(each_turn) {}

  // The sequences of a row: usually one, and none if it is too long and left out. kCut leaves out
  // whole turns (an untrained assistant message and the messages up to the next one), beginning
  // with the oldest after the first observation, like path_collect; token rows cannot be cut.
  //
  // A trained turn that the chat template writes otherwise once later turns follow
  // (ChatTemplate::rewrites_turns) stands there behind a prefix, or in a form, that the model never
  // sees. It is counted, and with each_turn it is trained in a sequence of its own, which ends with
  // it. Such a sequence that is too long is left out, without a row of its own being counted.
  //
  // Throws FatalError(kFile) with the reason and the cure for a template that cannot express the
  // conversation or mark the end of a turn, text or token rows with their own BOS, a token row of
  // another tokenizer, and a row that is too long (kError).
  std::vector<TrainingRow> EncodeTurns(const ParsedRow& row, RowCounts& counts) const;

 private:
  // `shorter`: the row without the turns that were left out, if some were.
  bool EncodeConversation(const ParsedRow& row, TrainingRow& tokens,
                          std::optional<ParsedRow>& shorter, RowCounts& counts) const;
  // Counts the rewritten turns of `tokens`, the encoding of `row`, and with each_turn moves them
  // into sequences of their own.
  std::vector<TrainingRow> TakeRewritten(const ParsedRow& row, TrainingRow& tokens,
                                         RowCounts& counts) const;
  bool EncodeTokens(const ParsedRow& row, TrainingRow& tokens) const;
  bool Fits(const TrainingRow& tokens) const;

  const RowTokenizer* tokenizer_;
  int max_length_;
  TooLong too_long_;
  bool each_turn_;
};

}  // namespace agentr
