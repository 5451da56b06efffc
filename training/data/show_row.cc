#include "training/data/show_row.h"

#include <fmt/core.h>

#include <string_view>

#include "lm/tokenizer/utf8.h"

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

// Whether a terminal could take it for more than a character: control codes, and the marks that
// turn the direction of writing.
bool IsControl(int32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string TextOf(const TrainingRow& row, int32_t begin, int32_t end, const Tokenizer& tokenizer) {
  std::string bytes;
  for (int32_t i = begin; i < end; ++i) {
    const int32_t id = row.ids[static_cast<size_t>(i)];
    bytes += i == 0 ? tokenizer.FirstTokenBytes(id) : tokenizer.TokenBytes(id);
  }
  return EscapeControls(bytes);
}

}  // namespace

std::string EscapeControls(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const int32_t code = NextCodePoint(text, at);
    if (code == '\n') {
      out += "\\n\n";
    } else if (code < 0 || IsControl(code)) {  // -1: no UTF-8
      for (size_t i = begin; i < at; ++i) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      }
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

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
