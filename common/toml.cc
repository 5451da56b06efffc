#include "common/toml.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace agentr {
namespace {

class TomlParser {
 public:
  explicit TomlParser(std::string_view text) : text_(text) {}

  std::vector<TomlItem> Parse() {
    std::vector<TomlItem> items;
    for (SkipBlank(); !AtEnd(); SkipBlank()) {
      items.push_back(ParseItem());
      const std::string& key = items.back().key;
      if (std::ranges::count(items, key, &TomlItem::key) > 1) Throw("'" + key + "' is given twice");
      SkipSpaces();
      if (!AtEnd() && Peek() != '\n' && Peek() != '\r' && Peek() != '#') {
        Throw("one value per line; put text into quotes");
      }
    }
    return items;
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }

  [[noreturn]] void Throw(std::string_view reason) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    throw FatalError(ExitCode::kUsage, fmt::format("line {}: {}", line, reason));
  }

  void SkipSpaces() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }

  // Spaces, line ends and comments.
  void SkipBlank() {
    while (!AtEnd()) {
      SkipSpaces();
      if (Peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Peek() == '\n' || Peek() == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // Up to one of `ends`, without spaces at the end.
  std::string Bare(std::string_view ends) {
    const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    std::string word(text_.substr(at_, end - at_));
    word.erase(word.find_last_not_of(" \t\r") + 1);
    at_ = end;
    return word;
  }

  TomlItem ParseItem() {
    if (Peek() == '[') Throw("tables are not used here: write the option as key = value");
    TomlItem item;
    item.key = Peek() == '"' || Peek() == '\'' ? Value() : Bare("=\n#");
    SkipSpaces();
    if (Peek() != '=' || item.key.empty()) Throw("expected key = value");
    ++at_;
    SkipSpaces();
    if (Peek() == '[') {
      Array(item.values);
    } else {
      item.values.push_back(Value());
    }
    return item;
  }

  void Array(std::vector<std::string>& values) {
    ++at_;  // [
    for (SkipBlank(); Peek() != ']'; SkipBlank()) {
      values.push_back(Value());
      SkipBlank();
      if (Peek() == ',') {
        ++at_;
      } else if (Peek() != ']') {
        Throw("expected , or ] in an array");
      }
    }
    ++at_;  // ]
  }

  std::string Value() {
    if (Peek() == '"') return BasicString();
    if (Peek() == '\'') return LiteralString();
    std::string word = Bare(",]#\n");
    if (word.empty()) Throw("expected a value");
    return word;
  }

  // '…': as it stands.
  std::string LiteralString() {
    const size_t end = text_.find_first_of("'\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '\'')
      Throw("a string without its end quote");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  // "…": its escapes are those of JSON.
  std::string BasicString() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size() || text_[end] != '"') Throw("a string without its end quote");
    const auto value = nlohmann::json::parse(text_.substr(at_, end + 1 - at_), nullptr,
                                             /*allow_exceptions=*/false);
    if (!value.is_string()) Throw("a string with a bad escape; '…' takes backslashes as they are");
    at_ = end + 1;
    return value.get<std::string>();
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<TomlItem> ParseToml(std::string_view text) { return TomlParser(text).Parse(); }

std::string ToToml(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    if (value.is_array() && value.empty()) continue;
    // What JSON writes of strings, numbers, booleans and their arrays is TOML too.
    text += fmt::format("{} = {}\n", key,
                        value.dump(-1, ' ', /*ensure_ascii=*/false,
                                   nlohmann::ordered_json::error_handler_t::replace));
  }
  return text;
}

}  // namespace agentr
