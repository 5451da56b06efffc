#include "tasks/questions/word_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace agentr {
namespace embedded {
extern const std::string_view kGuessAttributes;
extern const std::string_view kGuessObjects;
}  // namespace embedded

namespace {

std::string_view TrimmedPart(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Calls `use` with each trimmed part of the list.
template <typename Use>
void ForEachPartOf(std::string_view list, char separator, const Use& use) {
  while (!list.empty()) {
    const size_t at = std::min(list.find(separator), list.size());
    const std::string_view part = TrimmedPart(list.substr(0, at));
    if (!part.empty()) use(part);
    list.remove_prefix(std::min(at + 1, list.size()));
  }
}

// Calls `use` with each line that says something, and its number.
template <typename Use>
void ForEachLineOf(std::string_view text, const Use& use) {
  int number = 0;
  while (!text.empty()) {
    const size_t at = std::min(text.find('\n'), text.size());
    const std::string_view line = TrimmedPart(text.substr(0, at));
    ++number;
    if (!line.empty() && line.front() != '#') use(line, number);
    text.remove_prefix(std::min(at + 1, text.size()));
  }
}

[[noreturn]] void ThrowTable(std::string_view file, int line, const std::string& what) {
  throw FatalError(ExitCode::kFile,
                   fmt::format("configs/questions/{}, line {}: {}", file, line, what));
}

}  // namespace

std::string PlainQuestion(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (c == '\'') continue;
    if (kept) {
      plain += upper ? static_cast<char>(c - 'A' + 'a') : c;
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
  ForEachLineOf(attributes,
                [&](std::string_view line, int number) { ReadAttribute(line, number); });
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
  ForEachLineOf(text, [&](std::string_view line, int number) {
    const size_t bar = line.find('|');
    if (bar != std::string_view::npos) {
      categories_.emplace_back(TrimmedPart(line.substr(0, bar)));
      WordProperty& category = properties_.emplace_back();
      ForEachPartOf(line.substr(bar + 1), ',', [&](std::string_view phrase) {
        category.phrases.push_back(PlainQuestion(phrase));
      });
      category.phrases.push_back(PlainQuestion(categories_.back()));
      return;
    }
    if (properties_.empty()) ThrowTable("objects.txt", number, "objects before the first category");
    ForEachPartOf(line, ',', [&](std::string_view names) {
      GuessWord word{{}, categories_.back()};
      ForEachPartOf(names, ';', [&](std::string_view name) {
        if (Find(name)) {
          ThrowTable("objects.txt", number, fmt::format("\"{}\" is the name of two objects", name));
        }
        word.aliases.push_back(PlainQuestion(name));
      });
      if (words_.size() == kMostGuessWords) ThrowTable("objects.txt", number, "too many objects");
      properties_.back().members.set(words_.size());
      words_.push_back(std::move(word));
    });
  });
}

WordSet WordTable::MembersOf(std::string_view name, int number) const {
  const auto category = std::ranges::find(categories_, name);
  if (category != categories_.end()) {
    return properties_[static_cast<size_t>(category - categories_.begin())].members;
  }
  const std::optional<size_t> word = Find(name);
  if (!word) {
    ThrowTable("attributes.txt", number,
               fmt::format("\"{}\" is neither a category nor an object", name));
  }
  return WordSet().set(*word);
}

void WordTable::ReadAttribute(std::string_view line, int number) {
  const size_t bar = line.find('|');
  if (bar == std::string_view::npos) ThrowTable("attributes.txt", number, "there is no \"|\"");
  WordProperty property;
  ForEachPartOf(line.substr(0, bar), ',', [&](std::string_view phrase) {
    property.phrases.push_back(PlainQuestion(phrase));
  });
  if (property.phrases.empty()) ThrowTable("attributes.txt", number, "there is no phrase");
  ForEachPartOf(line.substr(bar + 1), ',', [&](std::string_view member) {
    constexpr std::string_view kNot = "not ";
    if (member.starts_with(kNot)) {
      property.members &= ~MembersOf(member.substr(kNot.size()), number);
    } else {
      property.members |= MembersOf(member, number);
    }
  });
  properties_.push_back(std::move(property));
}

}  // namespace agentr
