// Strings that record which of their bytes come from a message of the conversation.
//
// A template joins contents with its own text, and cuts and trims them. Marks follow the bytes of a
// content through all these operations, so that text of the template and of messages can be
// distinguished in the result.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentr::jinja {

// The bytes [begin, end) come from the content of message number `message`. An empty mark is the
// place of an empty content, or of one that was removed completely.
struct Mark {
  size_t begin = 0;
  size_t end = 0;
  int message = 0;

  bool operator==(const Mark&) const = default;
};

// UTF-8, ill-formed only where a content was. Marks are in order and do not overlap.
struct Text {
  std::string bytes = {};
  std::vector<Mark> marks = {};
  bool safe = false;  // made by the filter `safe`: Python's Markup

  Text() = default;
  explicit Text(std::string text) : bytes(std::move(text)) {}

  void Append(std::string_view plain) { bytes += plain; }
  void Append(const Text& other);
  // Appends `plain` as a replacement for bytes [begin, end) of `source`, with the marks of those
  // bytes.
  void AppendAs(std::string_view plain, const Text& source, size_t begin, size_t end);
  // The bytes [begin, end) with their marks.
  Text Slice(size_t begin, size_t end) const;

 private:
  void AddMark(Mark mark);
};

// The number of bytes of the character at `at`; ill-formed bytes count as characters of one byte.
size_t CharacterLength(std::string_view text, size_t at);
size_t CountCharacters(std::string_view text);
bool IsAscii(std::string_view text);
// Python's str.isspace() of a character.
bool IsSpaceCharacter(int code_point);

// The occurrences of a part in a text that do not overlap, from the left or from the right. All of
// them together take time in proportion to the text, where std::string::find may compare the whole
// part at every place.
class Occurrences {
 public:
  Occurrences(std::string_view text, std::string_view part, bool from_right = false);

  // The place of the next one, npos if there is none. An empty part is found once, at the end where
  // the search begins.
  size_t Next();

 private:
  const bool from_right_;
  // For a search from the right the text and the part are turned round, here.
  std::string turned_text_, turned_part_;
  std::string_view text_, part_;
  size_t at_ = 0;  // in text_
};

bool Contains(std::string_view text, std::string_view part);

// Removes white space, or any of `characters`, from the chosen sides of a text.
struct StripSides {
  bool left = true;
  bool right = true;
};
Text Strip(const Text& text, StripSides sides);
Text Strip(const Text& text, std::string_view characters, StripSides sides);

}  // namespace agentr::jinja
