#include "training/data/show_row.h"

#include <fmt/core.h>

#include <string_view>

#include "common/text.h"

namespace agentr {
namespace {

int ColorOf(TargetKind kind) {
  switch (kind) {
    case TargetKind::kGood:
    case TargetKind::kCorrected:
      return 32;
    case TargetKind::kRevision:
      return 33;
    case TargetKind::kOther:
      break;
  }
  return 36;
}

// A line break is written as \n and also made.
std::string Shown(std::string_view bytes) {
  std::string out;
  for (const char c : EscapeControls(bytes, "\n")) out += c == '\n' ? "\\n\n" : std::string(1, c);
  return out;
}

std::string TextOf(const TrainingRow& row, int32_t begin, int32_t end, const Tokenizer& tokenizer) {
  std::string bytes;
  for (int32_t i = begin; i < end; ++i) {
    const int32_t id = row.ids[static_cast<size_t>(i)];
    bytes += i == 0 ? tokenizer.FirstTokenBytes(id) : tokenizer.TokenBytes(id);
  }
  return Shown(bytes);
}

}  // namespace

std::string ShowRow(const TrainingRow& row, const Tokenizer& tokenizer, bool color) {
  std::string out;
  int32_t done = 0;
  for (const TrainedSpan& span : row.trained) {
    out += TextOf(row, done, span.begin, tokenizer);
    const std::string text = TextOf(row, span.begin, span.end, tokenizer);
    out += color ? fmt::format("\x1b[{}m{}\x1b[0m", ColorOf(span.kind), text)
                 : fmt::format("⟦{}⟧", text);
    done = span.end;
  }
  return out + TextOf(row, done, static_cast<int32_t>(row.ids.size()), tokenizer) + "\n";
}

}  // namespace agentr
