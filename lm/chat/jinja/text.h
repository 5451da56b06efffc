// Strings that know which of their bytes a message of the conversation said.
//
// A template puts contents together with text of its own, cuts and trims them. Marks follow the
// bytes of a content through all of that, so that the rendered text tells template and messages
// apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentr::jinja {

// The bytes [begin, end) come from the content of message number `message`. An empty mark stands
// where an empty content, or one of which nothing was left, was put.
struct Mark {
  size_t begin = 0;
  size_t end = 0;
  int message = 0;

  bool operator==(const Mark&) const = default;
};

// UTF-8, which may be ill-formed where the content was. Marks are in order and do not overlap.
struct Text {
  std::string bytes = {};
  std::vector<Mark> marks = {};
  bool safe = false;  // made by the filter `safe`: Python's Markup

  Text() = default;
  explicit Text(std::string text) : bytes(std::move(text)) {}

  void Append(std::string_view plain) { bytes += plain; }
  void Append(const Text& other);
  // `plain` in place of bytes of `source` that lie at [begin, end) of it: marked as these are.
  void AppendAs(std::string_view plain, const Text& source, size_t begin, size_t end);
  // The bytes [begin, end) of it.
  Text Slice(size_t begin, size_t end) const;

 private:
  void AddMark(Mark mark);
};

// Bytes of the character that begins at `at`; ill-formed bytes count as characters of one byte.
size_t CharacterLength(std::string_view text, size_t at);
size_t CountCharacters(std::string_view text);
bool IsAscii(std::string_view text);
// Python's str.isspace() of a character.
bool IsSpaceCharacter(int code_point);

// What lies between white space, or between any of `characters`; both sides can be left as they
// are.
struct StripSides {
  bool left = true;
  bool right = true;
};
Text Strip(const Text& text, StripSides sides);
Text Strip(const Text& text, std::string_view characters, StripSides sides);

}  // namespace agentr::jinja
