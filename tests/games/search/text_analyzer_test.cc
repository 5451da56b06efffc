#include "games/search/text_analyzer.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <libstemmer.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/random.h"
#include "common/text.h"
#include "games/search/porter_stemmer.h"
#include "games/search/word_breaker.h"
#include "tests/games/search/lucene_data.h"

namespace agentr {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(std::string_view text) {
  Words words;
  WordBreaker breaker(text);
  for (std::string_view word = breaker.Next(); !word.empty(); word = breaker.Next()) {
    words.emplace_back(word);
  }
  return words;
}

std::string Stem(std::string_view word) {
  std::string out;
  const auto utf16 = icu::UnicodeString::fromUTF8(std::string(word));
  const std::u16string stem = PorterStem({utf16.getBuffer(), static_cast<size_t>(utf16.length())});
  icu::UnicodeString(stem.data(), static_cast<int32_t>(stem.size())).toUTF8String(out);
  return out;
}

TEST(WordBreaker, LongWordsAreCutAsLuceneDoes) {
  const auto x = [](size_t n) { return std::string(n, 'x'); };
  EXPECT_EQ(WordsOf(x(255) + " b"), (Words{x(255), "b"}));
  EXPECT_EQ(WordsOf(x(256)), (Words{x(255), "x"}));
  EXPECT_EQ(WordsOf("a " + x(600)), (Words{"a", x(255), x(255), x(90)}));
  // The dot would join, were the letter behind it seen.
  EXPECT_EQ(WordsOf(x(254) + ".yy"), (Words{x(254), "yy"}));
  EXPECT_EQ(WordsOf(x(253) + ".yy"), (Words{x(253) + ".y", "y"}));
  std::string accents;
  for (int i = 0; i < 255; ++i) accents += "é";
  EXPECT_EQ(WordsOf(accents + "é"), (Words{accents, "é"}));
}

TEST(WordBreaker, Words) {
  EXPECT_EQ(WordsOf("don't e.g. 1,234.5 x_y"), (Words{"don't", "e.g", "1,234.5", "x_y"}));
  EXPECT_EQ(WordsOf("foo.bar 4.5 a.5 5.a"), (Words{"foo.bar", "4.5", "a", "5", "5", "a"}));
  EXPECT_EQ(WordsOf("t-shirt w/o at&t a,b 1;2"),
            (Words{"t", "shirt", "w", "o", "at", "t", "a", "b", "1;2"}));
  EXPECT_EQ(WordsOf("a:b 1:2 a..b kids' 'x'"), (Words{"a:b", "1", "2", "a", "b", "kids", "x"}));
  EXPECT_EQ(WordsOf("_ __ _a_ 3d 4x4"), (Words{"_a_", "3d", "4x4"}));
  EXPECT_EQ(WordsOf(""), Words{});
  EXPECT_EQ(WordsOf(" .,!"), Words{});
}

TEST(WordBreaker, OtherScripts) {
  EXPECT_EQ(WordsOf("日本 ひら カタ한글"), (Words{"日", "本", "ひ", "ら", "カタ", "한글"}));
  EXPECT_EQ(WordsOf("ñandú nai\u0308ve naïve’s"), (Words{"ñandú", "nai\u0308ve", "naïve’s"}));
  EXPECT_EQ(WordsOf("ภาษาไทย ა"), (Words{"ภาษาไทย", "ა"}));
  EXPECT_EQ(WordsOf("א\"ב א' א\"1"), (Words{"א\"ב", "א'", "א", "1"}));
  EXPECT_EQ(WordsOf("a\u200d.\u200db カ_a"), (Words{"a\u200d.\u200db", "カ_a"}));
}

TEST(WordBreaker, Pictographs) {
  EXPECT_EQ(WordsOf("★★ Acme® — …"), (Words{"★", "★", "Acme", "®"}));
  EXPECT_EQ(WordsOf("👩\u200d🔬👍🏽"), (Words{"👩\u200d🔬", "👍🏽"}));
  EXPECT_EQ(WordsOf("🇩🇪🇫"), (Words{"🇩🇪"}));
}

TEST(WordBreaker, BadBytesSeparateWords) {
  EXPECT_EQ(WordsOf("a\xff"
                    "b\xc3"),
            (Words{"a", "b"}));
}

// ICU's own statuses call "__" a word.
bool HasLetterOrDigit(const icu::UnicodeString& text) {
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const int32_t property = u_getIntPropertyValue(text.char32At(i), UCHAR_WORD_BREAK);
    if (property == U_WB_ALETTER || property == U_WB_HEBREW_LETTER || property == U_WB_NUMERIC ||
        property == U_WB_KATAKANA) {
      return true;
    }
  }
  return false;
}

// ICU's iterator, with Swedish rules because only those keep ":" inside words, as Unicode does.
class IcuWords {
 public:
  IcuWords() : iterator_(ubrk_open(UBRK_WORD, "sv", nullptr, 0, &status_), ubrk_close) {}

  Words Of(std::string_view text) {
    const auto source = icu::UnicodeString::fromUTF8(std::string(text));
    ubrk_setText(iterator_.get(), source.getBuffer(), source.length(), &status_);
    Words words;
    int32_t begin = ubrk_first(iterator_.get());
    for (int32_t end = ubrk_next(iterator_.get()); end != UBRK_DONE;
         end = ubrk_next(iterator_.get())) {
      const icu::UnicodeString piece = source.tempSubStringBetween(begin, end);
      if (HasLetterOrDigit(piece)) piece.toUTF8String(words.emplace_back());
      begin = end;
    }
    EXPECT_TRUE(U_SUCCESS(status_));
    return words;
  }

 private:
  UErrorCode status_ = U_ZERO_ERROR;
  std::unique_ptr<UBreakIterator, void (*)(UBreakIterator*)> iterator_;
};

std::string RandomText(RandomStream& random, std::span<const std::string_view> pieces) {
  std::string text;
  for (uint64_t n = random.Below(24); n > 0; --n) text += random.Pick(pieces);
  return text;
}

TEST(WordBreaker, EqualsIcuOnAscii) {
  std::vector<std::string> storage;
  for (char c = 1; c < 127; ++c) {
    if (c != '@') storage.emplace_back(1, c);
  }
  std::vector<std::string_view> pieces(storage.begin(), storage.end());
  for (int i = 0; i < 8; ++i) {
    for (const char* c : {"a", "Z", "7", ".", "'", ",", ":", ";", "_", "\""}) pieces.push_back(c);
  }
  IcuWords icu;
  RandomStream random(1);
  for (int i = 0; i < 60000; ++i) {
    const std::string text = RandomText(random, pieces);
    ASSERT_EQ(WordsOf(text), icu.Of(text)) << text;
  }
}

TEST(WordBreaker, EqualsIcuOnOtherAlphabets) {
  static constexpr std::string_view kPieces[] = {
      "a", "é", "ß", "я", "3", "٣", "\u0301", "\u200d", "\u00ad", "·", "’", "'", ".",
      ",", ":", "_", "‿", " ", "—", "\u2028", "א",      "\"",     "ა", "€", "؛"};
  IcuWords icu;
  RandomStream random(2);
  for (int i = 0; i < 60000; ++i) {
    const std::string text = RandomText(random, kPieces);
    // A geresh ends its word here (Lucene reads on when a digit follows, ICU splits): rare and
    // left.
    if (text.find("א") != std::string::npos && text.find('\'') != std::string::npos) continue;
    ASSERT_EQ(WordsOf(text), icu.Of(text)) << text;
  }
}

// Words and their stems, by hand, after Porter's paper and, from "xs" on, its author's later
// changes.
TEST(PorterStem, Examples) {
  constexpr std::string_view kStems =
      "caresses caress, ponies poni, caress caress, cats cat, feed feed, agreed agre, "
      "plastered plaster, bled bled, motoring motor, sing sing, conflated conflat, "
      "troubled troubl, sized size, hopping hop, falling fall, hissing hiss, filing file, "
      "happy happi, sky sky, relational relat, conditional condit, generalization gener, "
      "hopefulness hope, electrical electr, adoption adopt, rate rate, cease ceas, "
      "controll control, roll roll, i.e i., caféd caféd, xs xs, us us, assembly assembl, "
      "terribly terribl, technology technolog, trekking trek, yes ye, éed éed";
  for (const std::string_view pair : SplitText(kStems, ',')) {
    const auto words = SplitWords(pair);
    EXPECT_EQ(Stem(words[0]), words[1]);
  }
}

// Words whose stems differ by the author's later changes are left out.
bool SameInBothVersions(const std::string& word) {
  static constexpr std::string_view kPaperLacks[] = {"bli", "bly", "logi", "logy"};
  for (const auto part : kPaperLacks) {
    if (word.find(part) != std::string::npos) return false;
  }
  for (const char* twice : {"cc", "hh", "jj", "kk", "qq", "vv", "ww", "xx", "yy"}) {
    if (word.find(twice) != std::string::npos) return false;
  }
  return word.size() > 2;
}

TEST(PorterStem, EqualsLibstemmer) {
  static constexpr std::string_view kPieces[] = {
      "a",   "e",     "i",    "o",   "y",    "b",   "d",   "l",    "s",    "t",
      "z",   "ss",    "ll",   "at",  "iz",   "eed", "ed",  "ing",  "ies",  "sses",
      "al",  "ation", "ness", "ous", "ment", "ent", "ion", "ator", "izer", "enci",
      "iti", "iv",    "ful",  "ic",  "ate",  "er",  "able"};
  const std::unique_ptr<sb_stemmer, void (*)(sb_stemmer*)> stemmer(
      sb_stemmer_new("porter", "UTF_8"), sb_stemmer_delete);
  RandomStream random(3);
  int compared = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string word;
    for (uint64_t n = 1 + random.Below(6); n > 0; --n) {
      word += random.Pick(kPieces);
    }
    if (!SameInBothVersions(word)) continue;
    const auto* const stem =
        sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                        static_cast<int>(word.size()));
    const std::string expected(reinterpret_cast<const char*>(stem),
                               static_cast<size_t>(sb_stemmer_length(stemmer.get())));
    ASSERT_EQ(Stem(word), expected) << word;
    ++compared;
  }
  EXPECT_GT(compared, 50000);
}

TEST(TextAnalyzer, Terms) {
  EXPECT_EQ(TermsOf("The Men's RUNNING shoes, it's women’s"),
            (Words{"men", "run", "shoe", "women"}));
  EXPECT_EQ(TermsOf("ÀÉ ΣΑΣ naïve"), (Words{"àé", "σασ", "naïv"}));
  EXPECT_EQ(TermsOf("THE'S a's S's x'S"), (Words{"s", "x"}));
  EXPECT_EQ(TermsOf("into the of"), Words{});
  EXPECT_EQ(TermsOf("their theirs"), Words{"their"});
  EXPECT_EQ(TermsOf(""), Words{});
}

TEST(TextAnalyzer, TokensOfLucene) {
  if (!std::filesystem::exists(LuceneFolder())) GTEST_SKIP() << "without " << LuceneFolder();
  const auto documents = LuceneLines("documents.jsonl");
  const auto tokens = LuceneLines("document_tokens.txt");
  ASSERT_EQ(documents.size(), 420u);
  ASSERT_EQ(tokens.size(), documents.size());
  for (size_t i = 0; i < documents.size(); ++i) {
    const auto text = nlohmann::json::parse(documents[i])["contents"].get<std::string>();
    EXPECT_EQ(fmt::format("{}", fmt::join(TermsOf(text), " ")), tokens[i]);
  }
  const auto queries = LuceneLines("query_tokens.tsv");
  ASSERT_EQ(queries.size(), 120u);
  for (const std::string& line : queries) {
    const auto [query, expected] = SplitAtTab(line);
    EXPECT_EQ(fmt::format("{}", fmt::join(TermsOf(query), " ")), expected) << query;
  }
}

}  // namespace
}  // namespace agentr
