#include "games/search/text_analyzer.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>

#include "games/search/porter_stemmer.h"
#include "games/search/word_breaker.h"

namespace agentr {
namespace {

constexpr auto kStopWords = std::to_array<std::u16string_view>(
    {u"a",    u"an",   u"and",  u"are",  u"as",   u"at",    u"be",   u"but",   u"by",
     u"for",  u"if",   u"in",   u"into", u"is",   u"it",    u"no",   u"not",   u"of",
     u"on",   u"or",   u"such", u"that", u"the",  u"their", u"then", u"there", u"these",
     u"they", u"this", u"to",   u"was",  u"will", u"with"});
static_assert(kStopWords.size() == 33);

std::u16string ToUtf16(std::string_view text) {
  const auto converted =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  return {converted.getBuffer(), static_cast<size_t>(converted.length())};
}

std::string ToUtf8(std::u16string_view text) {
  std::string out;
  icu::UnicodeString(false, text.data(), static_cast<int32_t>(text.size())).toUTF8String(out);
  return out;
}

bool IsApostrophe(char16_t c) { return c == u'\'' || c == u'\u2019' || c == u'\uff07'; }

std::u16string_view WithoutPossessive(std::u16string_view word) {
  const size_t n = word.size();
  const bool possessive =
      n >= 2 && IsApostrophe(word[n - 2]) && (word[n - 1] == u's' || word[n - 1] == u'S');
  return possessive ? word.substr(0, n - 2) : word;
}

// Converts character by character, like Java, without the context that a final sigma needs.
std::u16string Lower(std::u16string_view word) {
  icu::UnicodeString lower;
  const icu::UnicodeString source(false, word.data(), static_cast<int32_t>(word.size()));
  for (int32_t i = 0; i < source.length(); i = source.moveIndex32(i, 1)) {
    lower.append(u_tolower(source.char32At(i)));
  }
  return {lower.getBuffer(), static_cast<size_t>(lower.length())};
}

}  // namespace

std::string TermOf(std::string_view word) {
  const std::u16string whole = ToUtf16(word);
  const std::u16string lower = Lower(WithoutPossessive(whole));
  if (std::ranges::find(kStopWords, lower) != kStopWords.end()) return {};
  return ToUtf8(PorterStem(lower));
}

std::vector<std::string> TermsOf(std::string_view text) {
  std::vector<std::string> terms;
  WordBreaker words(text);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    std::string term = TermOf(word);
    if (!term.empty()) terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace agentr
