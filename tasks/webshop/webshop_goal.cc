#include "tasks/webshop/webshop_goal.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/text.h"
#include "tasks/webshop/webshop_action.h"

namespace agentr {
namespace {

constexpr std::string_view kPriceClause = ", and price lower than ";
constexpr std::string_view kWith = " with ";
constexpr std::string_view kAnd = ", and ";
constexpr std::string_view kIs = ": ";

// Removes the price from the end of `text`.
std::optional<double> TakePriceLimit(std::string_view& text) {
  const size_t at = text.rfind(kPriceClause);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(at + kPriceClause.size());
  double limit = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit);
  if (error != std::errc()) return std::nullopt;
  text = text.substr(0, at);
  return limit;
}

bool IsOptionName(std::string_view text) {
  constexpr int kMostBlanks = 3;
  return !text.empty() && std::ranges::count(text, ' ') <= kMostBlanks &&
         text.find(',') == std::string_view::npos && text.find(kWith) == std::string_view::npos;
}

// Reads "k: v" with the name before the first ": "; the name is empty if there is none.
WebShopChoice ReadChoice(std::string_view text) {
  const size_t is = text.find(kIs);
  if (is == std::string_view::npos || !IsOptionName(text.substr(0, is))) return {};
  return {text.substr(0, is), text.substr(is + kIs.size())};
}

std::vector<WebShopChoice> ReadChoices(std::string_view text) {
  std::vector<WebShopChoice> choices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(kAnd, begin), text.size());
    const WebShopChoice choice = ReadChoice(text.substr(begin, end - begin));
    if (!choice.option.empty()) {
      choices.push_back(choice);
    } else if (choices.empty()) {
      return {};
    } else {  // the previous value itself contains ", and "
      std::string_view& value = choices.back().value;
      value = {value.data(), static_cast<size_t>(text.data() + end - value.data())};
    }
    begin = end + kAnd.size();
  }
  return choices;
}

bool IsLetter(char c) {
  return IsAsciiLetter(c) || IsAsciiDigit(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool IsJoint(char c) { return c == '-' || c == '.' || c == '\'' || c == '/'; }

bool TellsNothing(const std::string& word) {
  static constexpr std::array<std::string_view, 45> kWords = {
      "a",    "am",   "an",   "and",    "are",  "as",   "at",    "be",      "buy",
      "by",   "can",  "easy", "find",   "for",  "from", "get",   "i",       "i'm",
      "in",   "is",   "it",   "like",   "look", "me",   "my",    "looking", "need",
      "of",   "on",   "or",   "please", "she",  "show", "some",  "that",    "the",
      "them", "they", "to",   "want",   "will", "with", "would", "which",   "you",
  };
  return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

WebShopGoal ReadWebShopGoal(std::string_view instruction) {
  WebShopGoal goal;
  goal.price_limit = TakePriceLimit(instruction);
  goal.text = instruction;
  for (size_t at = instruction.find(kWith); at != std::string_view::npos;
       at = instruction.find(kWith, at + 1)) {
    goal.choices = ReadChoices(instruction.substr(at + kWith.size()));
    if (goal.choices.empty()) continue;
    goal.text = instruction.substr(0, at);
    break;
  }
  return goal;
}

std::vector<std::string> WebShopWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    if (!IsLetter(text[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < text.size() &&
           (IsLetter(text[end]) ||
            (IsJoint(text[end]) && end + 1 < text.size() && IsLetter(text[end + 1])))) {
      ++end;
    }
    std::string word = WebShopKey(text.substr(begin, end - begin));
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
    begin = end;
  }
  return words;
}

std::vector<std::string> WebShopKeyWords(std::string_view text) {
  std::vector<std::string> words = WebShopWords(text);
  std::erase_if(words, TellsNothing);
  return words;
}

}  // namespace agentr
