#include "games/webshop/shop_wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/config_lines.h"
#include "common/text.h"

namespace agentr {

namespace embedded {
extern const std::string_view kShopWording;
}

namespace {

using Strings = std::vector<std::string>;

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool IsWordCharacter(char c) { return IsAsciiLetter(c) || IsAsciiDigit(c); }

template <size_t n>
bool IsOneOf(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool IsAcronym(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kAcronyms = {"usb", "hdmi", "hd", "uv", "gmo"};
  return IsOneOf(word, kAcronyms);
}

bool IsSmall(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kSmall = {
      "a", "an", "the", "for", "and", "or", "of", "with", "in", "on", "at", "by", "to", "from"};
  return IsOneOf(word, kSmall);
}

// Applies `change(word, begin)` to each run of letters and digits of `text`.
template <typename Change>
void ForEachWord(std::string& text, const Change& change) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    if (end > begin) change(std::string_view(text).substr(begin, end - begin), begin);
    begin = end + 1;
  }
}

void RaiseWord(std::string& text, std::string_view word, size_t begin) {
  std::transform(word.begin(), word.end(), text.begin() + static_cast<ptrdiff_t>(begin), Upper);
}

// Appends the text without the punctuation that an empty slot left over.
void AppendTidy(std::string& out, char c) {
  if (IsWordCharacter(c)) return out.push_back(c);
  const char last = out.empty() ? ' ' : out.back();
  if (c == ' ' && (last == ' ' || last == '(')) return;
  if ((c == ',' || c == ')' || c == '.') && last == ' ' && !out.empty()) out.pop_back();
  if (c == ',' && (out.empty() || out.back() == ',' || out.back() == '-')) return;
  out += c;
}

void TrimMarks(std::string& text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == ',' || text.back() == '-')) {
    text.pop_back();
  }
}

std::string FirstWord(std::string_view text) { return std::string(text.substr(0, text.find(' '))); }

// Appends "with a lid"; after "with a strap" only " and a lid".
void AppendHow(const ShopAttribute& attribute, std::string& last_how, std::string& out) {
  const std::string verb = FirstWord(attribute.how);
  const bool same = attribute.how == last_how;
  const bool same_verb = verb != "made" && verb == FirstWord(last_how);
  if (!out.empty()) out += same || same_verb || verb == "made" ? " and " : " ";
  if (same && verb == "made") {
    out += attribute.name;
  } else {
    std::string_view how = attribute.how;
    if (same_verb) how.remove_prefix(std::min(verb.size() + 1, how.size()));
    out += how;
    if (!how.empty()) out += ' ';
    out += attribute.name;
  }
  last_how = attribute.how;
}

}  // namespace

ShopWording ParseShopWording(std::string_view text, std::string_view name) {
  ShopWording wording;
  const std::map<std::string_view, Strings*> sections = {
      {"brand starts", &wording.brand_starts},
      {"brand middles", &wording.brand_middles},
      {"brand ends", &wording.brand_ends},
      {"titles", &wording.titles},
      {"attribute bullets", &wording.attribute_bullets},
      {"summaries", &wording.summaries},
      {"instructions", &wording.instructions},
      {"human instructions", &wording.human_instructions}};
  ConfigLines lines(text, name);
  Strings* open = nullptr;
  while (lines.Next()) {
    const auto heading = lines.Heading();
    if (!heading) {
      if (open == nullptr) lines.Stop("this line must come after a [section]");
      open->emplace_back(lines.line());
    } else if (const auto at = sections.find(*heading); at != sections.end()) {
      open = at->second;
    } else if (heading->ends_with(" words")) {
      open = &wording.option_words[std::string(heading->substr(0, heading->size() - 6))];
    } else {
      lines.Stop(fmt::format("unknown section: [{}]", *heading));
    }
    if (heading && !open->empty()) lines.Stop(fmt::format("[{}] occurs twice", *heading));
  }
  wording.option_words["other"];
  for (const auto& [section, list] : sections) {
    if (list->empty()) lines.Stop(fmt::format("nothing under [{}]", section));
  }
  for (const auto& [option, words] : wording.option_words) {
    if (words.empty()) lines.Stop(fmt::format("nothing under [{} words]", option));
  }
  return wording;
}

const ShopWording& BuiltInShopWording() {
  static const auto wording =
      ParseShopWording(embedded::kShopWording, "configs/webshop/wording.txt");
  return wording;
}

std::string DrawBrand(const ShopWording& wording, RandomStream& random) {
  std::string brand = random.Pick(wording.brand_starts);
  if (random.Chance(0.6)) brand += random.Pick(wording.brand_middles);
  return brand + random.Pick(wording.brand_ends);
}

std::string FillSlots(std::string_view pattern,
                      const std::function<std::string(std::string_view)>& slot) {
  std::string out;
  out.reserve(2 * pattern.size());
  for (size_t at = 0; at < pattern.size(); ++at) {
    const size_t close = pattern[at] == '{' ? pattern.find('}', at) : std::string_view::npos;
    if (close == std::string_view::npos) {
      AppendTidy(out, pattern[at]);
      continue;
    }
    for (const char c : slot(pattern.substr(at + 1, close - at - 1))) AppendTidy(out, c);
    at = close;
  }
  TrimMarks(out);
  return out;
}

std::string WithArticle(std::string_view phrase) {
  static constexpr std::array<std::string_view, 3> kLikeYou = {"us", "uv", "eu"};
  const bool vowel = std::string_view("aeiou8").find(phrase.front()) != std::string_view::npos &&
                     !IsOneOf(phrase.substr(0, 2), kLikeYou);
  return (vowel ? "an " : "a ") + std::string(phrase);
}

std::string TitleCase(std::string_view phrase) {
  std::string title(phrase);
  ForEachWord(title, [&](std::string_view word, size_t begin) {
    if (IsAcronym(word)) {
      RaiseWord(title, word, begin);
    } else if (begin == 0 || (!IsSmall(word) && title[begin - 1] != '\'')) {
      title[begin] = Upper(title[begin]);
    }
  });
  return title;
}

std::string Sentence(std::string_view text) {
  std::string sentence(text);
  ForEachWord(sentence, [&](std::string_view word, size_t begin) {
    if (IsAcronym(word)) RaiseWord(sentence, word, begin);
  });
  if (!sentence.empty()) sentence.front() = Upper(sentence.front());
  return sentence;
}

std::string JoinWords(std::span<const std::string> words) {
  std::string joined;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? " and " : ", ";
    joined += words[i];
  }
  return joined;
}

ShopPhrase::ShopPhrase(NounForm form, std::string_view noun, AttributeList attributes)
    : form_(form), noun_(noun) {
  for (const std::string_view verb : {"is", "made", "with", "in", "for"}) {
    for (const ShopAttribute* attribute : attributes) {
      if (FirstWord(attribute->how) == verb) attributes_.push_back(attribute);
    }
  }
}

std::string ShopPhrase::Slot(std::string_view name) const {
  if (name == "noun") return std::string(noun_);
  if (name == "a noun") return Counted(noun_);
  if (name == "what") return What();
  if (name == "a what") return Counted(What());
  if (name == "that is") return "that " + Is();
  if (name == "it is") return (plural() ? "they " : "it ") + Is();
  return {};
}

std::string ShopPhrase::Counted(std::string_view phrase) const {
  if (form_ == NounForm::kOne) return WithArticle(phrase);
  return (form_ == NounForm::kPair ? "a pair of " : "some ") + std::string(phrase);
}

std::string ShopPhrase::What() const {
  std::string before, after, last_how;
  for (const ShopAttribute* attribute : attributes_) {
    if (attribute->how == "is") {
      if (!before.empty()) before += ", ";
      before += attribute->name;
    } else {
      AppendHow(*attribute, last_how, after);
    }
  }
  std::string what = before.empty() ? std::string(noun_) : before + " " + std::string(noun_);
  if (!after.empty()) what += " " + after;
  return what;
}

std::string ShopPhrase::Is() const {
  const std::string is = plural() ? "are " : "is ";
  Strings clauses, adjectives;
  std::string last_how;
  for (const ShopAttribute* attribute : attributes_) {
    const std::string verb = FirstWord(attribute->how);
    if (verb == "is") {
      adjectives.push_back(attribute->name);
    } else if (!clauses.empty() && FirstWord(last_how) == verb) {
      AppendHow(*attribute, last_how, clauses.back());
    } else {
      const std::string lead = verb == "made"  ? is
                               : verb == "for" ? is + "meant "
                               : plural()      ? "come "
                                               : "comes ";
      clauses.push_back(lead + attribute->how + " " + attribute->name);
      last_how = attribute->how;
    }
  }
  if (!adjectives.empty()) clauses.insert(clauses.begin(), is + JoinWords(adjectives));
  return JoinWords(clauses);
}

std::string AttributeLabel(const ShopAttribute& attribute) {
  return attribute.how == "made without" ? "no " + attribute.name : attribute.name;
}

}  // namespace agentr
