// The objects of Twenty Questions with what is known about them, from two editable texts
// (configs/questions).
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

class ConfigLines;

constexpr size_t kMostGuessWords = 256;
using WordSet = std::bitset<kMostGuessWords>;

// One object.
struct GuessWord {
  std::vector<std::string> aliases;  // lower case; the first is its own name
  std::string category;              // as written

  bool Is(std::string_view name) const;
};

// A property: how a question says it, and what has it.
struct WordProperty {
  std::vector<std::string> phrases;  // lower case; the first follows "is it "
  WordSet members;
};

class WordTable {
 public:
  // Throws FatalError(kFile) naming the line for text of another form, an unknown member, or a name
  // that two objects have.
  // `articles`: a name is said with "a" or "an".
  WordTable(std::string_view objects, std::string_view attributes, bool articles = true);

  // The built-in table.
  static const WordTable& BuiltIn();

  const std::vector<GuessWord>& words() const { return words_; }
  // Categories first, then attributes.
  const std::vector<WordProperty>& properties() const { return properties_; }
  size_t category_count() const { return category_count_; }

  bool articles() const { return articles_; }

  // The object with this alias (any case).
  std::optional<size_t> Find(std::string_view alias) const;

 private:
  void ReadObjects(std::string_view text);
  void ReadAttribute(const ConfigLines& lines);
  WordSet MembersOf(std::string_view name, const ConfigLines& lines) const;

  std::vector<GuessWord> words_;
  std::vector<WordProperty> properties_;
  std::vector<std::string> categories_;  // by property
  size_t category_count_ = 0;
  bool articles_;
};

// Lower case, letters, digits, blanks and hyphens only, single blanks: what is compared.
std::string PlainQuestion(std::string_view text);

}  // namespace agentr
