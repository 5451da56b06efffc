// Reads the lines of editable texts, such as those of configs/webshop.
//
// Lines that start with '#' are comments. Comments, blank lines, and spaces around a line or its
// pieces are ignored. Errors are FatalError(kFile) "name:line: reason".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

class ConfigLines {
 public:
  // `name` is the file's name in messages.
  ConfigLines(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  // Goes to the next line that is not blank or a comment; false at the end.
  bool Next();
  std::string_view line() const { return line_; }

  // The text inside a line "[…]".
  std::optional<std::string_view> Heading() const;

  // The texts before and after the first `separator` of the line, which must contain one.
  struct Sides {
    std::string_view left, right;
  };
  Sides Split(char separator) const;

  // The pieces of `text`, none of them empty.
  std::vector<std::string> Pieces(std::string_view text, char separator) const;

  [[noreturn]] void Stop(std::string_view reason) const;

 private:
  std::string_view rest_;
  std::string_view line_;
  size_t number_ = 0;
  const std::string name_;
};

}  // namespace agentr
