#include "lm/jinja/text.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "common/utf8.h"

namespace agentr::jinja {
namespace {

// The beginning of the last character of text[0, end).
size_t LastCharacter(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at + CharacterLength(text, at) == end ? at : end - 1;
}

Text StripWhere(const Text& text, StripSides sides,
                const std::function<bool(std::string_view)>& stripped) {
  const std::string_view bytes = text.bytes;
  size_t begin = 0, end = bytes.size();
  while (sides.left && begin < end) {
    const size_t length = CharacterLength(bytes, begin);
    if (!stripped(bytes.substr(begin, length))) break;
    begin += length;
  }
  while (sides.right && begin < end) {
    const size_t last = LastCharacter(bytes, end);
    if (!stripped(bytes.substr(last, end - last))) break;
    end = last;
  }
  return text.Slice(begin, end);
}

}  // namespace

void Text::AddMark(Mark mark) {
  if (!marks.empty() && marks.back().message == mark.message && marks.back().end == mark.begin) {
    marks.back().end = mark.end;
  } else {
    marks.push_back(mark);
  }
}

void Text::Append(const Text& other) {
  const size_t offset = bytes.size();
  bytes += other.bytes;
  for (const Mark& mark : other.marks) {
    AddMark({mark.begin + offset, mark.end + offset, mark.message});
  }
}

void Text::AppendAs(std::string_view plain, const Text& source, size_t begin, size_t end) {
  const size_t at = bytes.size();
  bytes += plain;
  for (const Mark& mark : source.marks) {
    if (mark.begin < end && begin < mark.end) {
      return AddMark({at, bytes.size(), mark.message});
    }
  }
}

Text Text::Slice(size_t begin, size_t end) const {
  Text slice(bytes.substr(begin, end - begin));
  for (const Mark& mark : marks) {
    const size_t from = std::max(mark.begin, begin), to = std::min(mark.end, end);
    const bool touches = mark.begin == mark.end || begin == end;  // empty marks keep their place
    if (from < to || (touches && from == to)) {
      slice.AddMark({from - begin, to - begin, mark.message});
    }
  }
  // If a content was stripped completely, an empty mark keeps its place.
  if (slice.bytes.empty() && slice.marks.empty() && !marks.empty()) {
    slice.marks.push_back({0, 0, marks.front().message});
  }
  if (slice.bytes.empty() && slice.marks.size() > 1) slice.marks.resize(1);
  return slice;
}

size_t CharacterLength(std::string_view text, size_t at) {
  size_t next = at;
  NextCodePoint(text, next);
  return next - at;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) NextCodePoint(text, at);
  return count;
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsSpaceCharacter(int code_point) {
  if (code_point >= 0x1C && code_point <= 0x1F) return true;
  return code_point >= 0 && u_isUWhiteSpace(code_point);
}

Text Strip(const Text& text, StripSides sides) {
  return StripWhere(text, sides, [](std::string_view character) {
    size_t at = 0;
    return IsSpaceCharacter(NextCodePoint(character, at));
  });
}

Text Strip(const Text& text, std::string_view characters, StripSides sides) {
  std::set<std::string_view> stripped;
  for (size_t at = 0; at < characters.size();) {
    const size_t length = CharacterLength(characters, at);
    stripped.insert(characters.substr(at, length));
    at += length;
  }
  return StripWhere(text, sides,
                    [&](std::string_view character) { return stripped.contains(character); });
}

Occurrences::Occurrences(std::string_view text, std::string_view part, bool from_right)
    : from_right_(from_right), text_(text), part_(part) {
  if (!from_right) return;
  turned_text_.assign(text.rbegin(), text.rend());
  turned_part_.assign(part.rbegin(), part.rend());
  text_ = turned_text_;
  part_ = turned_part_;
}

size_t Occurrences::Next() {
  if (at_ > text_.size()) return std::string_view::npos;
  // The C library's search is linear in the worst case too.
  const void* const found =
      ::memmem(text_.data() + at_, text_.size() - at_, part_.data(), part_.size());
  if (found == nullptr) {
    at_ = std::string_view::npos;
    return at_;
  }
  const auto begin = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
  at_ = part_.empty() ? std::string_view::npos : begin + part_.size();
  return from_right_ ? text_.size() - begin - part_.size() : begin;
}

bool Contains(std::string_view text, std::string_view part) {
  return Occurrences(text, part).Next() != std::string_view::npos;
}

}  // namespace agentr::jinja
