// Upper and lower case, as Python's str has it.
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <cctype>

#include "lm/chat/jinja/methods.h"

namespace agentr::jinja {
namespace {

// `text` with `change` applied to what each mark covers, and to what lies between.
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

// Other letters may change with their neighbours (a final sigma) or grow (a sharp s): ICU follows
// the same tables of Unicode as Python.
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

Text CapitalizeText(Run& run, const Text& text) {
  if (text.bytes.empty()) return text;
  if (!IsAscii(text.bytes)) run.Refuse("capitalize of letters beyond ASCII");
  Text result = UpperText(run, text.Slice(0, 1));
  result.Append(LowerText(run, text.Slice(1, text.bytes.size())));
  return result;
}

}  // namespace agentr::jinja
