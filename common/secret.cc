#include "common/secret.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/text.h"

namespace agentr {
namespace {

constexpr std::string_view kMark = "***";

// The ends of a part of a text, as places of bytes.
struct Span {
  size_t begin = 0, end = 0;
};

bool IsNameCharacter(char c) {
  return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_' || c == '-' || c == '+' || c == '.';
}

// The characters at which an address within other text ends.
bool EndsAddress(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' ||
         c == '>';
}

// Names of parameters in URLs. "max_new_tokens" and the like are none, because they are no
// parameters in URLs.
bool NamesASecretParameter(std::string_view name) {
  const std::string lower = AsciiLower(PercentDecoded(name));
  constexpr std::array<std::string_view, 7> kParts = {"pass", "pwd",  "secret", "token",
                                                      "key",  "auth", "cred"};
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

// Names of words outside of URLs, which must not be taken for options such as --max_new_tokens.
bool NamesASecretWord(std::string_view name) {
  const std::string lower = AsciiLower(name);
  constexpr std::array<std::string_view, 5> kEnds = {"password", "passwd", "api_key", "secret",
                                                     "access_token"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return lower.ends_with(end); });
}

// What may follow the colon behind a host: a port, and the punctuation of a sentence.
bool IsPort(std::string_view text) {
  const std::string_view port = text.substr(0, text.find_first_of(",.;:)]}"));
  return port == "port" || std::ranges::all_of(port, IsAsciiDigit);
}

// Finds the secret parts of a text, from its beginning to its end, without overlaps.
class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) {}

  std::vector<Span> Find() {
    for (size_t at = 0; at < text_.size();) {
      if (text_.substr(at).starts_with("://")) {
        at = Address(at + 3);
      } else if (text_[at] == '=') {
        at = Word(at);
      } else {
        ++at;
      }
    }
    return std::move(spans_);
  }

 private:
  void Add(size_t begin, size_t end) {
    if (begin < end && (spans_.empty() || spans_.back().end <= begin)) {
      spans_.push_back({begin, end});
    }
  }

  std::string_view Between(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

  size_t EndOf(size_t begin, bool (*ends)(char)) const {
    while (begin < text_.size() && !ends(text_[begin])) ++begin;
    return begin;
  }

  // What follows "://" at `begin`; returns the place behind it.
  size_t Address(size_t begin) {
    size_t end = EndOf(begin, EndsAddress);
    const size_t authority_end =
        std::min(end, EndOf(begin, [](char c) { return c == '/' || c == '?' || c == '#'; }));
    const std::string_view authority = Between(begin, authority_end);
    const size_t colon = authority.starts_with('[') ? std::string::npos : authority.find(':');
    size_t at = Between(begin, end).rfind('@');
    // A host has no such port, so this may be a password with a blank or a quotation mark in it.
    if (at == std::string::npos && colon != std::string::npos &&
        !IsPort(authority.substr(colon + 1))) {
      const size_t line_end = std::min(text_.find('\n', begin), text_.size());
      at = Between(begin, std::min(text_.find("://", begin), line_end)).rfind('@');
      if (at != std::string::npos) end = EndOf(begin + at, EndsAddress);
    }
    if (at != std::string::npos) {
      UserInfo(begin, begin + at, authority.find('@') != std::string::npos);
    }
    Parameters(at == std::string::npos ? begin : begin + at, end);
    return end;
  }

  // USER:PASSWORD of an address. `sure`: the "@" is in its right place.
  void UserInfo(size_t begin, size_t end, bool sure) {
    const size_t colon = Between(begin, end).find(':');
    const bool bracket = text_[begin] == '[';
    if (colon != std::string::npos && (sure || !bracket)) {
      Add(begin + colon + 1, end);
    } else if (colon == std::string::npos && sure && IsHttp(begin - 3)) {
      Add(begin, end);
    }
  }

  bool IsHttp(size_t scheme_end) const {
    size_t begin = scheme_end;
    while (begin > 0 && IsAsciiLetter(text_[begin - 1])) --begin;
    const std::string scheme = AsciiLower(Between(begin, scheme_end));
    return scheme == "http" || scheme == "https";
  }

  void Parameters(size_t begin, size_t end) {
    size_t at = Between(begin, end).find('?');
    if (at == std::string::npos) return;
    for (at += begin + 1; at < end;) {
      const size_t next = std::min(Between(0, end).find('&', at), end);
      const size_t equals = Between(0, next).find('=', at);
      if (equals != std::string::npos && NamesASecretParameter(Between(at, equals))) {
        Add(equals + 1, next);
      }
      at = next + 1;
    }
  }

  // NAME = VALUE around the sign at `equals`; returns the place behind it.
  size_t Word(size_t equals) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    size_t name_end = equals;
    while (name_end > 0 && is_blank(text_[name_end - 1])) --name_end;
    size_t name = name_end;
    while (name > 0 && IsNameCharacter(text_[name - 1])) --name;
    if (!NamesASecretWord(Between(name, name_end))) return equals + 1;
    size_t value = equals + 1;
    while (value < text_.size() && is_blank(text_[value])) ++value;
    const char quote = value < text_.size() ? text_[value] : '\0';
    if (quote != '\'' && quote != '"') {
      const size_t end = EndOf(value, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
      Add(value, end);
      return end;
    }
    size_t end = value + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end, text_.size());
    Add(value + 1, end);
    return end;
  }

  const std::string_view text_;
  std::vector<Span> spans_;
};

// Shorter texts occur by chance, so they are replaced only where they are quoted.
constexpr size_t kShort = 4;

// True if `piece` is somewhere in `text` and has a byte of a secret part there.
bool IsPartOf(std::string_view piece, std::string_view text, const std::vector<Span>& spans) {
  if (piece.empty()) return false;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) {
    for (const Span& span : spans) {
      if (at < span.end && span.begin < at + piece.size()) return true;
    }
  }
  return false;
}

}  // namespace

std::string Secret::Redacted() const {
  if (kind_ == Kind::kText) return RedactSecrets(text_);
  return std::string(text_.empty() ? "" : kMark);
}

bool Secret::IsRedacted() const {
  return text_.find(kMark) != std::string::npos && Redacted() == text_;
}

std::string Secret::WithoutIt(std::string message) const {
  const std::vector<Span> spans = kind_ == Kind::kText ? Finder(text_).Find() : std::vector<Span>();
  std::vector<std::string> parts;
  for (const Span& span : spans) {
    parts.push_back(text_.substr(span.begin, span.end - span.begin));
    parts.push_back(PercentDecoded(parts.back()));
  }
  if (kind_ == Kind::kKey) parts = {text_, text_.substr(text_.rfind(' ') + 1)};  // "Bearer KEY"
  for (const std::string& part : parts) {
    if (part.size() >= kShort) ReplaceAll(message, part, kMark);
  }
  // A password that was not escaped is taken apart at the wrong places: then quoted pieces of it
  // are called a host or a port.
  for (size_t open = message.find('"'); open != std::string::npos;) {
    const size_t close = message.find('"', open + 1);
    if (close == std::string::npos) break;
    const std::string piece = message.substr(open + 1, close - open - 1);
    const bool whole = std::ranges::find(parts, piece) != parts.end();
    if (!piece.empty() && (whole || IsPartOf(piece, text_, spans))) {
      message.replace(open + 1, piece.size(), kMark);
    }
    open = message.find('"', message.find('"', open + 1) + 1);
  }
  return message;
}

std::vector<std::string> Redacted(const std::vector<Secret>& secrets) {
  std::vector<std::string> texts;
  for (const Secret& secret : secrets) texts.push_back(secret.Redacted());
  return texts;
}

std::string RedactSecrets(std::string_view text) {
  std::string out;
  size_t from = 0;
  for (const Span& span : Finder(text).Find()) {
    out.append(text.substr(from, span.begin - from)).append(kMark);
    from = span.end;
  }
  return out.append(text.substr(from));
}

}  // namespace agentr
