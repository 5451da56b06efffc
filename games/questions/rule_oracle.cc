#include "games/questions/rule_oracle.h"

#include <algorithm>
#include <array>

#include "common/text.h"

namespace agentr {
namespace {

// Words with which a question begins and that say nothing about the object.
constexpr std::array<std::string_view, 39> kLeadWords = {
    "is",    "it",   "the",    "object", "does",  "can",     "do",   "you",      "are",   "they",
    "this",  "that", "a",      "an",     "some",  "could",   "be",   "would",    "word",  "your",
    "thing", "item", "answer", "so",     "maybe", "perhaps", "then", "i",        "guess", "think",
    "its",   "was",  "were",   "will",   "have",  "home",    "town", "hometown", "city"};
constexpr std::array<std::string_view, 6> kNegations = {"not",   "isnt",    "doesnt",
                                                        "never", "without", "non"};

// Whether `phrase` occurs in `text` as whole words.
bool ContainsWords(std::string_view text, std::string_view phrase) {
  for (size_t at = text.find(phrase); at != std::string_view::npos;
       at = text.find(phrase, at + 1)) {
    const size_t end = at + phrase.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

// `plain` without the words at its front that say nothing.
std::string_view WithoutLead(std::string_view plain) {
  for (;;) {
    const std::string_view word = plain.substr(0, plain.find(' '));
    if (std::ranges::find(kLeadWords, word) == kLeadWords.end()) return plain;
    if (word.size() == plain.size()) return {};
    plain.remove_prefix(word.size() + 1);
  }
}

std::optional<WordSet> AnswersPart(const WordTable& table, std::string_view plain) {
  if (const std::optional<size_t> word = table.Find(WithoutLead(plain)))
    return WordSet().set(*word);
  const WordProperty* best = nullptr;
  size_t longest = 0;
  for (const WordProperty& property : table.properties()) {
    for (const std::string& phrase : property.phrases) {
      if (phrase.size() <= longest || !ContainsWords(plain, phrase)) continue;
      longest = phrase.size();
      best = &property;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->members);
}

}  // namespace

std::optional<WordSet> AnswersYes(const WordTable& table, std::string_view question) {
  std::string positive;
  bool negated = false;
  const std::string plain = PlainQuestion(question);
  for (const std::string_view word : SplitWords(plain)) {
    if (std::ranges::find(kNegations, word) != kNegations.end()) {
      negated = !negated;
    } else {
      positive.append(positive.empty() ? "" : " ").append(word);
    }
  }
  std::optional<WordSet> members = AnswersPart(table, positive);
  // A phrase may contain "or"; only a question that is not understood as a whole is taken apart.
  constexpr std::string_view kOr = " or ";
  std::string_view rest = positive;
  if (rest.find(kOr) != std::string_view::npos) {
    std::optional<WordSet> any;
    while (!rest.empty()) {
      const size_t at = std::min(rest.find(kOr), rest.size());
      if (const auto part = AnswersPart(table, rest.substr(0, at))) {
        any = any.value_or(WordSet()) | *part;
      }
      rest.remove_prefix(std::min(at + kOr.size(), rest.size()));
    }
    members = any ? any : members;
  }
  if (!members || !negated) return members;
  WordSet all;
  for (size_t i = 0; i < table.words().size(); ++i) all.set(i);
  return all & ~*members;
}

std::string RuleAnswer(const WordTable& table, size_t word, std::string_view question) {
  const std::optional<WordSet> yes = AnswersYes(table, question);
  if (!yes) return "invalid question";
  return (*yes)[word] ? "yes" : "no";
}

}  // namespace agentr
