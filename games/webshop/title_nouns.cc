#include "games/webshop/title_nouns.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "common/python_text.h"
#include "common/text.h"
#include "common/utf8.h"
#include "games/webshop/word_list.h"

namespace agentr {
namespace embedded {
extern const std::string_view kTitleWords;
}  // namespace embedded

namespace {

struct TitleWords {
  std::unordered_set<std::string_view> attributes;  // and all other words that are not nouns
  std::unordered_set<std::string_view> nouns;       // nouns despite a rule
};

const TitleWords& Words() {
  static const TitleWords words = [] {
    TitleWords read;
    for (std::string_view word : ListedWords(embedded::kTitleWords)) {
      if (word.front() == '+') {
        read.nouns.insert(word.substr(1));
      } else {
        read.attributes.insert(word);
      }
    }
    return read;
  }();
  return words;
}

bool HasAttributeEnding(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kEndings = {
      "able", "ful", "less", "ous", "ive", "ly", "proof", "free", "ed", "ible"};
  constexpr size_t kStem = 3;  // words with a shorter stem are no adjectives: table, olive, seed
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return word.size() >= ending.size() + kStem && word.ends_with(ending);
  });
}

// True for a word that is not a noun, also as a part of a hyphenated word.
bool IsAttribute(std::string_view word) {
  if (Words().nouns.contains(word)) return false;
  return IsAsciiDigit(word.front()) || Words().attributes.contains(word) ||
         HasAttributeEnding(word);
}

// Appends the nouns of one word of the title.
void AddNouns(std::string_view word, std::vector<std::string>& nouns) {
  if (Words().nouns.contains(word)) {
    nouns.emplace_back(word);
    return;
  }
  if (IsAttribute(word)) return;
  const auto parts = SplitWords(word, "-");
  if (std::ranges::any_of(parts, IsAttribute)) return;
  for (const std::string_view part : parts) {
    if (part.size() > 1) nouns.emplace_back(part);
  }
}

// The words in lower case, separated by spaces, without surrounding punctuation.
std::string Simplified(std::string_view title) {
  const std::string lower = PythonLower(title);
  constexpr uint32_t kWord = U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK;
  constexpr UChar32 kRightQuote = 0x2019;
  std::string simplified;
  for (size_t next = 0; next < lower.size();) {
    const size_t begin = next;
    const int32_t c = NextCodePoint(lower, next);
    if (c >= 0 && (U_GET_GC_MASK(c) & kWord) != 0) {
      simplified += lower.substr(begin, next - begin);
    } else if (c == '-') {
      simplified += '-';
    } else if (c == '.' && begin > 0 && IsAsciiDigit(lower[begin - 1]) &&
               IsAsciiDigit(lower[begin + 1])) {
      simplified += '.';
    } else if (c == '\'' || c == kRightQuote) {
      simplified += '\'';
    } else {
      simplified += ' ';
    }
  }
  return simplified;
}

// The word without quotes and hyphens around it, and without 's.
std::string_view Bare(std::string_view word) {
  word = Trim(word, "'-");
  constexpr std::string_view kPossessive = "'s";
  if (word.ends_with(kPossessive)) word.remove_suffix(kPossessive.size());
  return word;
}

}  // namespace

std::vector<std::string> TitleNouns(std::string_view title) {
  const std::string simplified = Simplified(title);
  std::vector<std::string> nouns;
  for (const std::string_view word : SplitWords(simplified, " ")) {
    const std::string_view bare = Bare(word);
    if (!bare.empty()) AddNouns(bare, nouns);
  }
  return nouns;
}

}  // namespace agentr
