// Upper and lower case, according to Python's str.
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <cctype>

#include "lm/jinja/methods.h"

namespace agentr::jinja {
namespace {

// Applies `change` to the bytes of each mark and to the parts in between.
template <typename Change>
Text ByPieces(const Text& text, Change change) {
  Text result;
  size_t done = 0;
  const auto piece = [&](size_t begin, size_t end) {
    const std::string_view bytes(text.bytes);
    result.AppendAs(change(bytes.substr(begin, end - begin)), text, begin, end);
  };
  for (const Mark& mark : text.marks) {
    piece(done, mark.begin);
    if (mark.begin == mark.end) result.Append(text.Slice(mark.begin, mark.end));
    if (mark.begin < mark.end) piece(mark.begin, mark.end);
    done = mark.end;
  }
  piece(done, text.bytes.size());
  return result;
}

// Other letters may depend on their neighbours (final sigma) or become longer (sharp s): ICU uses
// the same Unicode tables as Python.
std::string Changed(std::string_view text, bool upper) {
  std::string result;
  if (IsAscii(text)) {
    result = text;
    for (char& c : result) c = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    return result;
  }
  icu::UnicodeString unicode = icu::UnicodeString::fromUTF8(std::string(text));
  const icu::Locale& root = icu::Locale::getRoot();
  (upper ? unicode.toUpper(root) : unicode.toLower(root)).toUTF8String(result);
  return result;
}

}  // namespace

Text LowerText(Run& run, const Text& text) {
  run.Charge(text.bytes.size());
  return ByPieces(text, [](std::string_view piece) { return Changed(piece, false); });
}

Text UpperText(Run& run, const Text& text) {
  run.Charge(text.bytes.size());
  return ByPieces(text, [](std::string_view piece) { return Changed(piece, true); });
}

bool HasCase(Run& run, const Text& text, bool upper) {
  const std::string raised = UpperText(run, text).bytes, lowered = LowerText(run, text).bytes;
  return text.bytes == (upper ? raised : lowered) && raised != lowered;
}

Text CapitalizeText(Run& run, const Text& text) {
  if (text.bytes.empty()) return text;
  if (!IsAscii(text.bytes)) run.Refuse("capitalize of letters beyond ASCII");
  Text result = UpperText(run, text.Slice(0, 1));
  result.Append(LowerText(run, text.Slice(1, text.bytes.size())));
  return result;
}

}  // namespace agentr::jinja
