#include "games/search/word_breaker.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <array>

namespace agentr {
namespace {

constexpr std::array<WordClass, 128> MakeAsciiClasses() {
  std::array<WordClass, 128> classes{};
  classes.fill(WordClass::kOther);
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = WordClass::kLetter;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = WordClass::kDigit;
  classes['_'] = WordClass::kConnector;
  classes[':'] = WordClass::kMidLetter;
  classes[','] = classes[';'] = WordClass::kMidNumber;
  classes['.'] = WordClass::kMidBoth;
  classes['\''] = WordClass::kApostrophe;
  classes['"'] = WordClass::kQuote;
  return classes;
}
constexpr std::array<WordClass, 128> kAsciiClasses = MakeAsciiClasses();

WordClass ClassWithoutBreakProperty(UChar32 c) {
  if (u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT) {
    return WordClass::kComplex;
  }
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &status);
  if (script == USCRIPT_HAN || script == USCRIPT_HIRAGANA) return WordClass::kAlone;
  if (u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC)) return WordClass::kPictograph;
  return WordClass::kOther;
}

WordClass ClassOf(UChar32 c) {
  switch (u_getIntPropertyValue(c, UCHAR_WORD_BREAK)) {
    case U_WB_ALETTER:
      return WordClass::kLetter;
    case U_WB_HEBREW_LETTER:
      return WordClass::kHebrew;
    case U_WB_NUMERIC:
      return WordClass::kDigit;
    case U_WB_KATAKANA:
      return WordClass::kKatakana;
    case U_WB_EXTENDNUMLET:
      return WordClass::kConnector;
    case U_WB_MIDLETTER:
      return WordClass::kMidLetter;
    case U_WB_MIDNUM:
      return WordClass::kMidNumber;
    case U_WB_MIDNUMLET:
      return WordClass::kMidBoth;
    case U_WB_EXTEND:
    case U_WB_FORMAT:
    case U_WB_ZWJ:
      return WordClass::kExtend;
    case U_WB_REGIONAL_INDICATOR:
      return WordClass::kRegional;
    default:
      return ClassWithoutBreakProperty(c);
  }
}

bool IsLetter(WordClass c) { return c == WordClass::kLetter || c == WordClass::kHebrew; }

// No boundary between neighbours of these classes (WB5, WB8 to WB10, WB13 to WB13b).
bool Joins(WordClass before, WordClass after) {
  if (after == WordClass::kConnector) return true;
  const bool alphanumeric = IsLetter(after) || after == WordClass::kDigit;
  switch (before) {
    case WordClass::kLetter:
    case WordClass::kHebrew:
    case WordClass::kDigit:
      return alphanumeric;
    case WordClass::kKatakana:
      return after == WordClass::kKatakana;
    default:  // a connector
      return alphanumeric || after == WordClass::kKatakana;
  }
}

// No boundary around `middle` (WB6, WB7, WB7b, WB7c, WB11, WB12).
bool JoinsAcross(WordClass before, WordClass middle, WordClass after) {
  switch (middle) {
    case WordClass::kMidLetter:
      return IsLetter(before) && IsLetter(after);
    case WordClass::kMidNumber:
      return before == WordClass::kDigit && after == WordClass::kDigit;
    case WordClass::kMidBoth:
    case WordClass::kApostrophe:
      return (IsLetter(before) && IsLetter(after)) ||
             (before == WordClass::kDigit && after == WordClass::kDigit);
    case WordClass::kQuote:
      return before == WordClass::kHebrew && after == WordClass::kHebrew;
    default:
      return false;
  }
}

}  // namespace

struct WordBreaker::Piece {
  WordClass word_class;
  size_t end;
};

WordBreaker::Piece WordBreaker::Read(size_t at) const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text_.data());
  const size_t size = text_.size();
  if (at >= size) return {WordClass::kOther, size};
  const auto class_at = [&](size_t& i) {
    if (bytes[i] < 0x80) return kAsciiClasses[bytes[i++]];
    UChar32 c = 0;
    U8_NEXT(bytes, i, size, c);
    return c < 0 ? WordClass::kOther : ClassOf(c);
  };
  Piece piece{class_at(at), at};
  // No ASCII character extends another one.
  while (at < size && bytes[at] >= 0x80 && class_at(at) == WordClass::kExtend) piece.end = at;
  return piece;
}

// Extends `piece` by the next one if there is no boundary; false if there is one.
bool WordBreaker::Extend(Piece& piece, bool& is_word) const {
  const Piece next = Read(piece.end);
  if (next.word_class <= WordClass::kConnector) {
    if (!Joins(piece.word_class, next.word_class)) return false;
    is_word = is_word || next.word_class != WordClass::kConnector;
    piece = next;
    return true;
  }
  if (next.word_class > WordClass::kQuote) return false;
  const Piece after = Read(next.end);
  if (JoinsAcross(piece.word_class, next.word_class, after.word_class)) {
    piece = after;
    return true;
  }
  if (piece.word_class == WordClass::kHebrew && next.word_class == WordClass::kApostrophe) {
    piece.end = next.end;  // WB7a: an abbreviation includes its geresh and ends there
  }
  return false;
}

size_t WordBreaker::EndOfRun(Piece piece, bool& is_word) const {
  is_word = piece.word_class != WordClass::kConnector;
  while (Extend(piece, is_word)) {
  }
  return piece.end;
}

size_t WordBreaker::EndOfComplex(size_t at) const {
  Piece piece = Read(at);
  for (Piece next = piece; next.word_class == WordClass::kComplex; next = Read(piece.end)) {
    piece = next;
  }
  return piece.end;
}

size_t WordBreaker::EndOfPictograph(size_t at) const {
  static constexpr std::string_view kJoiner = "\u200d";
  Piece piece = Read(at);
  while (text_.substr(0, piece.end).ends_with(kJoiner)) {
    const Piece next = Read(piece.end);
    if (next.word_class != WordClass::kPictograph) break;
    piece = next;
  }
  return piece.end;
}

// Reads a run without a boundary; true if it is a word.
bool WordBreaker::TakeRun() {
  const size_t begin = at_;
  const Piece piece = Read(begin);
  bool is_word = true;
  at_ = piece.end;
  if (piece.word_class <= WordClass::kConnector) {
    at_ = EndOfRun(piece, is_word);
  } else if (piece.word_class == WordClass::kComplex) {
    at_ = EndOfComplex(begin);
  } else if (piece.word_class == WordClass::kPictograph) {
    at_ = EndOfPictograph(begin);
  } else if (piece.word_class == WordClass::kRegional) {
    const Piece second = Read(piece.end);
    is_word = second.word_class == WordClass::kRegional;
    if (is_word) at_ = second.end;
  } else {
    is_word = piece.word_class == WordClass::kAlone;
  }
  return is_word;
}

// The end of `units` UTF-16 units from `begin`; characters are not divided.
size_t WordBreaker::EndOfUnits(size_t begin, size_t units) const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text_.data());
  size_t end = begin;
  for (size_t at = begin; at < text_.size(); end = at) {
    UChar32 c = 0;
    U8_NEXT(bytes, at, text_.size(), c);
    const size_t taken = c >= 0x10000 ? 2 : 1;
    if (taken > units) break;
    units -= taken;
  }
  return end;
}

// A longer word becomes several; none is left out. Lucene's StandardTokenizer splits at 255 Java
// characters (setMaxTokenLength, since 4.10; earlier versions skipped the word). Its scanner
// examines that many from the beginning of a word and takes the word that results if the text ended
// there.
std::string_view WordBreaker::Next() {
  constexpr size_t kMostUnits = 255;
  while (at_ < text_.size()) {
    const size_t begin = at_;
    bool is_word = TakeRun();
    if (at_ - begin > kMostUnits && EndOfUnits(begin, kMostUnits) < at_) {
      const std::string_view whole = text_;
      text_ = whole.substr(0, EndOfUnits(begin, kMostUnits));
      at_ = begin;
      is_word = TakeRun();
      if (!is_word) at_ = Read(begin).end;
      text_ = whole;
    }
    if (is_word) return text_.substr(begin, at_ - begin);
  }
  return {};
}

}  // namespace agentr
