// Finds the words of a text like Lucene's standard tokenizer.
//
// Concept: word boundaries of Unicode's UAX 29. "4.5", "foo.bar", "x_y", "don't" and "a:b" stay
// whole; "-", "/" and "&" split. Text between two boundaries is a word if it contains a letter, a
// digit or a katakana. Beyond UAX 29: each Han or hiragana character is a word, a run of Thai, Lao,
// Khmer or Myanmar letters is one word, and so is a pictograph (emoji, "★", "®").
//
// Contract: the text is UTF-8; invalid bytes separate words. ICU gives the classes of the
// characters; its own iterator is not used because it splits by dictionaries and, unlike Lucene, at
// ":".
//
// Source: Unicode Standard Annex 29, table 3 and rules WB4 to WB13b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agentr {

// The classes of characters in the rules.
enum class WordClass : uint8_t {
  kLetter,
  kHebrew,
  kDigit,
  kKatakana,
  kConnector,  // "_"
  kMidLetter,
  kMidNumber,
  kMidBoth,  // "."
  kApostrophe,
  kQuote,
  kExtend,  // accents and joiners, which belong to the character before them
  kAlone,   // Han, hiragana
  kComplex,
  kPictograph,
  kRegional,  // half of a flag
  kOther,
};

class WordBreaker {
 public:
  explicit WordBreaker(std::string_view text) : text_(text) {}

  // The next word, a part of the text of at most 255 UTF-16 units; empty if none is left.
  std::string_view Next();

 private:
  struct Piece;  // a character with the extending characters after it

  Piece Read(size_t at) const;
  bool TakeRun();
  size_t EndOfUnits(size_t begin, size_t units) const;
  size_t EndOfRun(Piece piece, bool& is_word) const;
  bool Extend(Piece& piece, bool& is_word) const;
  size_t EndOfComplex(size_t at) const;
  size_t EndOfPictograph(size_t at) const;

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace agentr
