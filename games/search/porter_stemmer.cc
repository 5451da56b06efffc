#include "games/search/porter_stemmer.h"

#include <cstddef>
#include <span>

namespace agentr {
namespace {

struct Rule {
  std::u16string_view suffix;
  std::u16string_view replacement;
};

// If two suffixes of a table can both match, the longer one comes first.
constexpr Rule kDoubleSuffixes[] = {
    {u"ational", u"ate"}, {u"ization", u"ize"}, {u"iveness", u"ive"}, {u"fulness", u"ful"},
    {u"ousness", u"ous"}, {u"tional", u"tion"}, {u"biliti", u"ble"},  {u"entli", u"ent"},
    {u"ousli", u"ous"},   {u"ation", u"ate"},   {u"alism", u"al"},    {u"aliti", u"al"},
    {u"iviti", u"ive"},   {u"enci", u"ence"},   {u"anci", u"ance"},   {u"izer", u"ize"},
    {u"alli", u"al"},     {u"ator", u"ate"},    {u"logi", u"log"},    {u"bli", u"ble"},
    {u"eli", u"e"},
};
constexpr Rule kAdjectives[] = {
    {u"icate", u"ic"}, {u"ative", u""}, {u"alize", u"al"}, {u"iciti", u"ic"},
    {u"ical", u"ic"},  {u"ness", u""},  {u"ful", u""},
};
constexpr Rule kLastSuffixes[] = {
    {u"ement", u""}, {u"ance", u""}, {u"ence", u""}, {u"able", u""}, {u"ible", u""},
    {u"ment", u""},  {u"ant", u""},  {u"ent", u""},  {u"ion", u""},  {u"ism", u""},
    {u"ate", u""},   {u"iti", u""},  {u"ous", u""},  {u"ive", u""},  {u"ize", u""},
    {u"al", u""},    {u"er", u""},   {u"ic", u""},   {u"ou", u""},
};

class Stemmer {
 public:
  explicit Stemmer(std::u16string_view word) : word_(word) {}

  std::u16string Stem() && {
    if (word_.size() <= 2) return std::move(word_);
    Plural();
    PastAndGerund();
    if (EndsIn(u"y") && HasVowel(1)) word_.back() = u'i';
    Replace(kDoubleSuffixes, 0);
    Replace(kAdjectives, 0);
    Replace(kLastSuffixes, 1);
    FinalLetters();
    return std::move(word_);
  }

 private:
  bool EndsIn(std::u16string_view suffix) const {
    return std::u16string_view(word_).ends_with(suffix);
  }

  bool IsConsonant(size_t i) const {
    const char16_t c = word_[i];
    if (c == u'y') return i == 0 || !IsConsonant(i - 1);
    return c != u'a' && c != u'e' && c != u'i' && c != u'o' && c != u'u';
  }

  // The number of vowel-consonant transitions in the word without its last `cut` letters.
  int Measure(size_t cut) const {
    int count = 0;
    bool after_vowel = false;
    for (size_t i = 0; i + cut < word_.size(); ++i) {
      const bool consonant = IsConsonant(i);
      if (consonant && after_vowel) ++count;
      after_vowel = !consonant;
    }
    return count;
  }

  bool HasVowel(size_t cut) const {
    for (size_t i = 0; i + cut < word_.size(); ++i) {
      if (!IsConsonant(i)) return true;
    }
    return false;
  }

  bool EndsInDoubleConsonant() const {
    const size_t n = word_.size();
    return n >= 2 && word_[n - 1] == word_[n - 2] && IsConsonant(n - 1);
  }

  // Consonant, vowel, consonant (not w, x, y) before the last `cut` letters: "hop", "fil".
  bool EndsInShortSyllable(size_t cut) const {
    if (word_.size() < cut + 3) return false;
    const size_t last = word_.size() - cut - 1;
    const char16_t c = word_[last];
    return IsConsonant(last) && !IsConsonant(last - 1) && IsConsonant(last - 2) && c != u'w' &&
           c != u'x' && c != u'y';
  }

  void Cut(size_t letters) { word_.resize(word_.size() - letters); }

  void Plural() {
    if (!EndsIn(u"s")) return;
    if (EndsIn(u"sses") || EndsIn(u"ies")) {
      Cut(2);
    } else if (!EndsIn(u"ss")) {
      Cut(1);
    }
  }

  void PastAndGerund() {
    if (EndsIn(u"eed")) {
      if (Measure(3) > 0) Cut(1);
      return;
    }
    const size_t length = EndsIn(u"ed") ? 2 : EndsIn(u"ing") ? 3 : 0;
    if (length == 0 || !HasVowel(length)) return;
    Cut(length);
    if (EndsIn(u"at") || EndsIn(u"bl") || EndsIn(u"iz")) {
      word_ += u'e';
    } else if (EndsInDoubleConsonant()) {
      if (!EndsIn(u"l") && !EndsIn(u"s") && !EndsIn(u"z")) Cut(1);
    } else if (Measure(0) == 1 && EndsInShortSyllable(0)) {
      word_ += u'e';
    }
  }

  // Only the first matching suffix is considered, even if the rest is too short to remove it.
  void Replace(std::span<const Rule> rules, int measure_above) {
    for (const Rule& rule : rules) {
      if (!EndsIn(rule.suffix)) continue;
      const size_t length = rule.suffix.size();
      if (rule.suffix == u"ion" && !EndsIn(u"sion") && !EndsIn(u"tion")) return;
      if (Measure(length) > measure_above) {
        Cut(length);
        word_ += rule.replacement;
      }
      return;
    }
  }

  void FinalLetters() {
    if (EndsIn(u"e")) {
      const int measure = Measure(1);
      if (measure > 1 || (measure == 1 && !EndsInShortSyllable(1))) Cut(1);
    }
    if (EndsIn(u"ll") && Measure(0) > 1) Cut(1);
  }

  std::u16string word_;
};

}  // namespace

std::u16string PorterStem(std::u16string_view word) { return Stemmer(word).Stem(); }

}  // namespace agentr
