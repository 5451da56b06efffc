// Parses a line of a data file: detects its format and converts it into one form.
//
//   messages  {"messages": [{role, content, weight, loss}]}: OpenAI's chat format. An assistant
//             message is trained if its "weight" is 1 or its "loss" is true. A row in which no
//             message has either is general chat: every assistant message is trained.
//   sharegpt  {"conversations": [{from: system|human|gpt, value, loss}]}: "loss" likewise.
//   agent-r   {"task_num", "revise_log": [{role, content, loss}], "low_log", …}: the format of
//             Agent-R and path_collect. An assistant message without "loss" is not trained.
//   tokens    {"ids", "loss", …}: one of each per token (path_collect --format tokens with a
//             model).
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

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "common/named_values.h"
#include "training/data/training_row.h"

namespace agentr {

enum class DataFormat { kMessages, kShareGpt, kAgentR, kTokens };

inline constexpr std::array<NamedValue<DataFormat>, 4> kDataFormats = {
    {{"messages", DataFormat::kMessages},
     {"sharegpt", DataFormat::kShareGpt},
     {"agent-r", DataFormat::kAgentR},
     {"tokens", DataFormat::kTokens}}};

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
// old kind (row_version.h).
ParsedRow ParseRow(std::string_view line);

// The key of a row's task: the value of "task", "task_num" or "item_id" in the first 512 or the
// last 16,384 bytes of the line; empty if there is none. Works without JSON parsing.
std::string_view TaskKey(std::string_view line);

}  // namespace agentr
