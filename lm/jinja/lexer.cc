#include "lm/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "common/utf8.h"
#include "lm/jinja/run.h"

namespace agentr::jinja {
namespace {

bool IsNameBegin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameCharacter(char c) { return IsNameBegin(c) || IsAsciiDigit(c); }

// The source with "\n" as line ends, and without the last one.
std::string Normalized(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(Normalized(source)) {}

  std::vector<Token> Run() {
    while (at_ < source_.size()) ReadData();
    Add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void Fail(const std::string& message) {
    throw Failure(TemplateError::Kind::kSyntax, Here(), message);
  }

  Place Here() {
    for (; counted_ < at_; ++counted_) {
      if (source_[counted_] == '\n') {
        ++line_;
        line_begin_ = counted_ + 1;
      }
    }
    return {line_, static_cast<int>(at_ - line_begin_) + 1};
  }

  bool Starts(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }
  char Peek(size_t offset) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  void Add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), Here()}); }

  void SkipSpace() {
    while (at_ < source_.size()) {
      size_t next = at_;
      if (!IsSpaceCharacter(NextCodePoint(source_, next))) return;
      at_ = next;
    }
  }

  // Text up to the next tag, and that tag.
  void ReadData() {
    const size_t begin = at_;
    size_t tag = begin;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        Add(TokenKind::kData, source_.substr(begin));
        at_ = source_.size();
        return;
      }
      if (source_[tag + 1] == '{' || source_[tag + 1] == '%' || source_[tag + 1] == '#') break;
    }
    const char type = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    AddData(begin, tag, type == '{', sign);
    at_ = tag;
    const Place place = Here();
    at_ = tag + (sign == '-' || sign == '+' ? 3 : 2);
    if (type == '#') return SkipComment();
    if (type == '%' && IsRaw()) return ReadRaw();
    const bool block = type == '%';
    tokens_.push_back({block ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "", place});
    while (!ReadEnd(block)) ReadToken();
  }

  // The text [begin, end) before a tag, without the white space that the tag's sign and
  // lstrip_blocks remove.
  void AddData(size_t begin, size_t end, bool variable, char sign) {
    const std::string_view text = std::string_view(source_).substr(begin, end - begin);
    size_t size = text.size();
    if (sign == '-') {
      size = Strip(Text(std::string(text)), {.left = false}).bytes.size();
    } else if (sign != '+' && !variable) {
      const size_t line = text.rfind('\n') + 1;
      const std::string rest(text.substr(line));
      if ((line > 0 || line_starting_) && Strip(Text(rest), {}).bytes.empty()) size = line;
    }
    if (size > 0) Add(TokenKind::kData, std::string(text.substr(0, size)));
  }

  // Skips the end of a tag and the white space that belongs to it.
  void LeaveTag(char sign, bool trims_line) {
    const size_t begin = at_;
    if (sign == '-') {
      SkipSpace();
    } else if (sign != '+' && trims_line && Peek(0) == '\n') {
      ++at_;
    }
    line_starting_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  void SkipComment() {
    const size_t end = source_.find("#}", at_);
    if (end == std::string::npos) Fail("a comment has no end: #}");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    at_ = end + 2;
    LeaveTag(sign, true);
  }

  // True if "raw %}" follows, which is then skipped.
  bool IsRaw() {
    const size_t begin = at_;
    SkipSpace();
    if (Starts("raw")) {
      at_ += 3;
      SkipSpace();
      const bool strips = Starts("-%}");
      if (strips || Starts("%}")) {
        at_ += strips ? 3 : 2;
        LeaveTag(strips ? '-' : '\0', false);
        return true;
      }
    }
    at_ = begin;
    return false;
  }

  void ReadRaw() {
    const size_t begin = at_;
    for (size_t tag = begin; (tag = source_.find("{%", tag)) != std::string::npos; ++tag) {
      at_ = tag + 2;
      const char sign = Peek(0);
      if (sign == '-' || sign == '+') ++at_;
      SkipSpace();
      if (!Starts("endraw")) continue;
      at_ += 6;
      SkipSpace();
      const char end_sign = Peek(0);
      if (end_sign == '-' || end_sign == '+') ++at_;
      if (!Starts("%}")) continue;
      at_ += 2;
      const size_t behind = at_;
      AddData(begin, tag, false, sign);
      at_ = behind;
      return LeaveTag(end_sign, true);
    }
    at_ = begin;
    Fail("{% raw %} has no end: {% endraw %}");
  }

  // Skips the end of the tag if it is here.
  bool ReadEnd(bool block) {
    SkipSpace();
    if (at_ >= source_.size()) Fail(fmt::format("a tag has no end: {}", block ? "%}" : "}}"));
    if (!open_.empty()) return false;
    const std::string_view end = block ? "%}" : "}}";
    const char sign = Peek(0);
    const bool is_signed = sign == '-' || (sign == '+' && block);
    if (!std::string_view(source_).substr(at_ + (is_signed ? 1 : 0)).starts_with(end)) return false;
    Add(block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, "");
    at_ += is_signed ? 3 : 2;
    LeaveTag(is_signed ? sign : '\0', block);
    return true;
  }

  void ReadToken() {
    const char c = Peek(0);
    if (IsAsciiDigit(c)) return ReadNumber();
    if (c == '\'' || c == '"') return ReadString(c);
    if (IsNameBegin(c)) {
      size_t end = at_;
      while (end < source_.size() && IsNameCharacter(source_[end])) ++end;
      if (end < source_.size() && static_cast<unsigned char>(source_[end]) >= 0x80) RefuseName();
      Add(TokenKind::kName, source_.substr(at_, end - at_));
      at_ = end;
      return;
    }
    if (static_cast<unsigned char>(c) >= 0x80) RefuseName();
    ReadOperator();
  }

  [[noreturn]] void RefuseName() {
    throw Failure(TemplateError::Kind::kUnsupported, Here(), "a name with other letters than a-z");
  }

  // Digits, with single underscores between them.
  size_t Digits(size_t at) const {
    while (at < source_.size() &&
           (IsAsciiDigit(source_[at]) ||
            (source_[at] == '_' && at + 1 < source_.size() && IsAsciiDigit(source_[at + 1])))) {
      ++at;
    }
    return at;
  }

  void ReadNumber() {
    size_t end = Digits(at_);
    bool is_float = false;
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    const auto at = [&](size_t i) { return i < source_.size() ? source_[i] : '\0'; };
    if (!after_dot) {
      if (at(end) == '.' && IsAsciiDigit(at(end + 1))) {
        end = Digits(end + 1);
        is_float = true;
      }
      size_t exponent = end;
      if (at(exponent) == 'e' || at(exponent) == 'E') {
        ++exponent;
        if (at(exponent) == '+' || at(exponent) == '-') ++exponent;
        if (IsAsciiDigit(at(exponent))) {
          end = Digits(exponent);
          is_float = true;
        }
      }
    }
    std::string digits = source_.substr(at_, end - at_);
    std::erase(digits, '_');
    if (!is_float && digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of('0') != std::string::npos) {
      Fail("a number begins with 0");
    }
    if (!is_float && IsNameBegin(at(end))) Fail("a number runs into a name");
    Add(is_float ? TokenKind::kFloat : TokenKind::kInteger, digits);
    at_ = end;
  }

  void ReadString(char quote) {
    const Place place = Here();
    std::string value;
    size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] == '\\') {
        i = ReadEscape(i + 1, value);
      } else {
        value += source_[i];
      }
    }
    if (i >= source_.size()) Fail("a string has no end");
    tokens_.push_back({TokenKind::kString, std::move(value), place});
    at_ = i + 1;
  }

  // Decodes the escape whose letter is at `i`; returns the position of its last character.
  size_t ReadEscape(size_t i, std::string& value) {
    if (i >= source_.size()) Fail("a string has no end");
    const char c = source_[i];
    constexpr std::string_view kLetters = "\\'\"abfnrtv\n", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (c == '\n') return i;
    if (const size_t found = kLetters.find(c); found != std::string_view::npos) {
      value += kMeanings[found];
      return i;
    }
    const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (length > 0) return ReadHex(i + 1, length, value);
    if (c >= '0' && c <= '7') {
      int32_t code_point = 0;
      size_t end = i;
      while (end < i + 3 && end < source_.size() && source_[end] >= '0' && source_[end] <= '7') {
        code_point = code_point * 8 + (source_[end++] - '0');
      }
      AppendCodePoint(code_point, value);
      return end - 1;
    }
    if (c == 'N') {
      throw Failure(TemplateError::Kind::kUnsupported, Here(), "the escape \\N in a string");
    }
    value += '\\';  // like Python, which keeps an unknown escape
    value += c;
    return i;
  }

  size_t ReadHex(size_t begin, size_t length, std::string& value) {
    const std::string digits = source_.substr(begin, length);
    if (digits.size() != length ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      Fail("a string has a cut off escape");
    }
    const uint64_t code_point = std::stoull(digits, nullptr, 16);
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
      Fail("a string has an escape of no character");
    }
    AppendCodePoint(static_cast<int32_t>(code_point), value);
    return begin + length - 1;
  }

  void ReadOperator() {
    constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view two : kTwo) {
      if (!Starts(two)) continue;
      Add(TokenKind::kOperator, std::string(two));
      at_ += 2;
      return;
    }
    constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
    const char c = Peek(0);
    if (kOne.find(c) == std::string_view::npos) Fail(fmt::format("unexpected character '{}'", c));
    if (c == '(' || c == '[' || c == '{') open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open_.empty() || open_.back() != c) Fail(fmt::format("unexpected '{}'", c));
      open_.pop_back();
    }
    Add(TokenKind::kOperator, std::string(1, c));
    ++at_;
  }

  const std::string source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string open_;           // the closing brackets that are expected
  bool line_starting_ = true;  // the last tag ended with a line end
  size_t counted_ = 0;         // line ends before this position are counted
  int line_ = 1;
  size_t line_begin_ = 0;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view source) { return Lexer(source).Run(); }

}  // namespace agentr::jinja
