// Parses a line of a data file (rows/row.h) into what is trained.
//
// Kinds of targets, for the loss apart. A row whose provenance names a bad path (agent-r: whose
// "low_log" is not empty) is a revision row: its first trained assistant message is the revision
// turn and the others are corrected actions. Where the row trains the steps before the mistake too
// (its provenance says "train_prefix", or its very first assistant message is trained) the revision
// turn is the first trained message behind the last untrained one, and what is trained before is
// kOther. A token row tells the tokens of its revision turn in "revision"; where it does not, the
// stretches of trained tokens stand for the messages, and the first one is the revision turn. A row
// whose provenance names no bad path (agent-r: whose "low_log" is empty) is a good row. All other
// rows are kOther.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "rows/row.h"
#include "training/data/training_row.h"

namespace agentr {

struct ParsedRow {
  DataFormat format = DataFormat::kMessages;
  // A conversation.
  std::vector<Message> messages;
  struct Trained {
    bool trained = false;  // only for assistant messages
    TargetKind kind = TargetKind::kOther;
  };
  std::vector<Trained> learned;  // one per message
  // A token row instead.
  TrainingRow tokens;
  std::string tokenizer;  // hash of its tokenizer; empty if unknown
};

// Throws FatalError(kFile) with what is wrong and the cure, for a line that is no JSON or no row, a
// row with nothing to learn, and rows of path_collect that are text and tokens in pieces or of the
// old kind (rows/provenance.h).
ParsedRow ParseRow(std::string_view line);

}  // namespace agentr
