#include "games/questions/word_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/config_lines.h"
#include "common/text.h"

namespace agentr {
namespace embedded {
extern const std::string_view kGuessAttributes;
extern const std::string_view kGuessObjects;
}  // namespace embedded

namespace {

// The parts of a list that are not empty.
std::vector<std::string_view> PartsOf(std::string_view list, char separator) {
  std::vector<std::string_view> parts = SplitText(list, separator);
  std::erase(parts, "");
  return parts;
}

std::vector<std::string> PlainQuestions(std::string_view list) {
  std::vector<std::string> plain;
  for (const std::string_view phrase : PartsOf(list, ',')) plain.push_back(PlainQuestion(phrase));
  return plain;
}

}  // namespace

std::string PlainQuestion(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '\'') continue;
    if (IsAsciiLetter(c) || IsAsciiDigit(c) || c == '-') {
      plain += AsciiLower(c);
    } else if (!plain.empty() && plain.back() != ' ') {
      plain += ' ';
    }
  }
  if (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

bool GuessWord::Is(std::string_view name) const {
  return std::ranges::find(aliases, name) != aliases.end();
}

WordTable::WordTable(std::string_view objects, std::string_view attributes, bool articles)
    : articles_(articles) {
  ReadObjects(objects);
  category_count_ = properties_.size();
  ConfigLines lines(attributes, "configs/questions/attributes.txt");
  while (lines.Next()) ReadAttribute(lines);
}

const WordTable& WordTable::BuiltIn() {
  static const WordTable table(embedded::kGuessObjects, embedded::kGuessAttributes);
  return table;
}

std::optional<size_t> WordTable::Find(std::string_view alias) const {
  const std::string plain = PlainQuestion(alias);
  const auto at =
      std::ranges::find_if(words_, [&](const GuessWord& word) { return word.Is(plain); });
  if (at == words_.end()) return std::nullopt;
  return static_cast<size_t>(at - words_.begin());
}

void WordTable::ReadObjects(std::string_view text) {
  ConfigLines lines(text, "configs/questions/objects.txt");
  while (lines.Next()) {
    if (lines.line().find('|') != std::string_view::npos) {
      const auto [name, phrases] = lines.Split('|');
      categories_.emplace_back(name);
      properties_.push_back({PlainQuestions(phrases), {}});
      properties_.back().phrases.push_back(PlainQuestion(name));
      continue;
    }
    if (properties_.empty()) lines.Stop("objects before the first category");
    for (const std::string_view names : PartsOf(lines.line(), ',')) {
      GuessWord word{{}, categories_.back()};
      for (const std::string_view name : PartsOf(names, ';')) {
        if (Find(name)) lines.Stop(fmt::format("\"{}\" is the name of two objects", name));
        word.aliases.push_back(PlainQuestion(name));
      }
      if (words_.size() == kMostGuessWords) lines.Stop("too many objects");
      properties_.back().members.set(words_.size());
      words_.push_back(std::move(word));
    }
  }
}

WordSet WordTable::MembersOf(std::string_view name, const ConfigLines& lines) const {
  const auto category = std::ranges::find(categories_, name);
  if (category != categories_.end()) {
    return properties_[static_cast<size_t>(category - categories_.begin())].members;
  }
  const std::optional<size_t> word = Find(name);
  if (!word) lines.Stop(fmt::format("\"{}\" is neither a category nor an object", name));
  return WordSet().set(*word);
}

void WordTable::ReadAttribute(const ConfigLines& lines) {
  const auto [phrases, members] = lines.Split('|');
  WordProperty property{PlainQuestions(phrases), {}};
  if (property.phrases.empty()) lines.Stop("there is no phrase");
  for (const std::string_view member : PartsOf(members, ',')) {
    constexpr std::string_view kNot = "not ";
    if (member.starts_with(kNot)) {
      property.members &= ~MembersOf(member.substr(kNot.size()), lines);
    } else {
      property.members |= MembersOf(member, lines);
    }
  }
  properties_.push_back(std::move(property));
}

}  // namespace agentr
