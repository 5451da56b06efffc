// Any line is either refused, or a row whose spans lie inside it and which passes through the
// encoder and the batch: every trained token is a target exactly once, with and without shared
// prefixes.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "rows/row_file.h"
#include "tests/lm/tokenizer/byte_tokenizer.h"
#include "training/data/batch_builder.h"
#include "training/data/parsed_row.h"
#include "training/data/row_encoder.h"
#include "training/data/show_row.h"

namespace {

using agentr::TrainingRow;

void Check(bool holds) {
  if (!holds) std::abort();
}

// Distinguishes special tokens from their spelling, like the tokenizers of models.
class MarkingTokenizer : public agentr::ByteTokenizer {
 public:
  std::vector<int32_t> Encode(std::string_view text, agentr::SpecialText special) const override {
    std::vector<int32_t> ids;
    for (size_t at = 0; at < text.size();) {
      const std::string_view rest = text.substr(at);
      const bool mark = special == agentr::SpecialText::kToken &&
                        (rest.starts_with("<eos>") || rest.starts_with("<bos>"));
      ids.push_back(mark ? *Id(rest.substr(0, 5)) : static_cast<unsigned char>(text[at]));
      at += mark ? 5 : 1;
    }
    return ids;
  }
};

const agentr::RowTokenizer& Text() {
  static const agentr::RowTokenizer text = [] {
    agentr::RowTokenizer made;
    made.tokenizer = std::make_unique<MarkingTokenizer>();
    made.chat = agentr::ChatTemplate::Make("plain", *made.tokenizer);
    return made;
  }();
  return text;
}

void CheckSpans(const TrainingRow& row) {
  int32_t done = 1;
  for (const agentr::TrainedSpan& span : row.trained) {
    Check(span.begin >= done && span.begin < span.end);
    done = span.end;
  }
  Check(!row.trained.empty() && done <= static_cast<int32_t>(row.ids.size()));
}

void CheckBatch(const TrainingRow& row) {
  const std::vector<const TrainingRow*> rows = {&row, &row};
  for (const bool share : {false, true}) {
    const agentr::Batch batch = agentr::BuildBatch(rows, share);
    Check(batch.weight() == 2.0 * static_cast<double>(row.trained_tokens()));
    Check(batch.tokens.size() == row.ids.size() * (share ? 1 : 2));
    Check(batch.segments.size() == (share ? 1U : 2U));
  }
}

void Parse(std::string_view line) {
  try {
    const agentr::ParsedRow row = agentr::ParseRow(line);
    Check(row.messages.size() == row.learned.size());
    for (const int max_length : {1 << 20, 64}) {
      agentr::RowCounts counts;
      const agentr::RowEncoder encoder(Text(), max_length, agentr::TooLong::kCut);
      for (const TrainingRow& tokens : encoder.EncodeTurns(row, counts)) {
        Check(tokens.ids.size() <= static_cast<size_t>(max_length));
        CheckSpans(tokens);
        CheckBatch(tokens);
        for (const char c : agentr::ShowRow(tokens, *Text().tokenizer, false)) {
          Check(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
        }
      }
    }
  } catch (const agentr::FatalError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::string_view task = agentr::TaskKey(line);
  Check(task.empty() ||
        (task.data() >= line.data() && task.data() + task.size() <= line.data() + line.size()));
  Parse(line);
  return 0;
}
