#include "training/data/parsed_row.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "rows/provenance.h"
#include "rows/row_reader.h"

namespace agentr {
namespace {

[[noreturn]] void Refuse(const std::string& why) { throw FatalError(ExitCode::kFile, why); }

// True if the steps before the mistake are also trained: the provenance says so, or even the
// assistant's first message, which need not be learned, is trained.
bool TrainsPrefix(const Row& row) {
  if (row.train_prefix) return *row.train_prefix;
  const auto first = std::ranges::find(row.messages, "assistant", &Message::role);
  return first != row.messages.end() &&
         row.trained[static_cast<size_t>(first - row.messages.begin())];
}

std::vector<ParsedRow::Trained> Learned(const Row& row) {
  std::vector<ParsedRow::Trained> learned;
  for (const bool trained : row.trained) learned.push_back({trained});
  if (row.bad_path == BadPath::kUnknown) return learned;
  size_t begin = 0;
  if (row.bad_path == BadPath::kNamed && TrainsPrefix(row)) {
    for (size_t i = 0; i < learned.size(); ++i) {
      if (row.messages[i].role == "assistant" && !learned[i].trained) begin = i + 1;
    }
  }
  TargetKind kind = row.bad_path == BadPath::kNone ? TargetKind::kGood : TargetKind::kRevision;
  for (size_t i = begin; i < learned.size(); ++i) {
    if (!learned[i].trained) continue;
    learned[i].kind = kind;
    if (row.bad_path == BadPath::kNamed) kind = TargetKind::kCorrected;
  }
  return learned;
}

std::vector<TrainedSpan> TrainedTokens(const Row& row) {
  const bool revises = row.bad_path == BadPath::kNamed && !row.revision;
  TargetKind kind = row.bad_path == BadPath::kNone ? TargetKind::kGood
                    : revises                      ? TargetKind::kRevision
                                                   : TargetKind::kOther;
  std::vector<TrainedSpan> runs;
  bool before = false;
  for (size_t i = 0; i < row.trained.size(); ++i) {
    const bool trained = row.trained[i];
    const auto at = static_cast<int32_t>(i);
    if (row.revision && i >= row.revision->first) {
      kind = i < row.revision->second ? TargetKind::kRevision : TargetKind::kCorrected;
    }
    if (trained && (!before || runs.back().kind != kind)) runs.push_back({at, at, kind});
    if (trained) runs.back().end = at + 1;
    if (before && !trained && revises) kind = TargetKind::kCorrected;
    before = trained;
  }
  return runs;
}

}  // namespace

ParsedRow ParseRow(std::string_view line) {
  Row row = ReadRow(line);
  if (row.format == DataFormat::kSegments) {
    Refuse(
        "a row in pieces of text and tokens, whose chat template is not known; write rows for this "
        "model: path_collect --format tokens --model_dir DIR, or --format messages");
  }
  if (row.provenance) RefuseOldRow(*row.provenance);
  ParsedRow parsed;
  parsed.format = row.format;
  if (row.format == DataFormat::kTokens) {
    parsed.tokens.trained = TrainedTokens(row);
    if (parsed.tokens.trained.empty()) {
      Refuse(
          "nothing to learn: \"loss\" is 0 for every token that another one stands before; drop "
          "the row, or write it again with path_collect");
    }
    parsed.tokens.ids = std::move(row.ids);
    parsed.tokenizer = std::move(row.tokenizer);
    return parsed;
  }
  if (row.messages.empty()) Refuse("the list of messages is empty");
  parsed.learned = Learned(row);
  parsed.messages = std::move(row.messages);
  if (std::ranges::none_of(parsed.learned, &ParsedRow::Trained::trained)) {
    Refuse(
        "nothing to learn: no assistant message has \"weight\": 1 or \"loss\": true; drop the row "
        "or mark what is to be learned");
  }
  return parsed;
}

}  // namespace agentr
