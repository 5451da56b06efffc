#include "lm/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cctype>

#include "common/error.h"
#include "common/utf8.h"

namespace agentr {
namespace {

std::string ErrorText(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

// PCRE2's \s also matches U+180E, which is not white space since Unicode 6.3.
std::string WithUnicodeSpace(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += "\\p{White_Space}";
    } else if (escaped == 'S') {
      out += "\\P{White_Space}";
    } else {
      out += {'\\', escaped};
    }
  }
  return out;
}

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

// The first match at or after `at`; false without one.
bool Find(const pcre2_code* code, std::string_view text, size_t at, pcre2_match_data* match) {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK, match, nullptr);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // retry with the interpreter, whose stack is on the
                                              // heap
    found = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match,
                        nullptr);
  }
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
    throw FatalError(ExitCode::kInternal, "a tokenizer's pattern failed on a text of " +
                                              std::to_string(text.size()) +
                                              " bytes: " + ErrorText(found));
  }
  return found >= 0;
}

}  // namespace

Regex::Regex(const std::string& pattern, const std::string& where) {
  const std::string text = WithUnicodeSpace(pattern);
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE place = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &place, context.get()),
              pcre2_code_free);
  if (code_ == nullptr) {
    throw FatalError(ExitCode::kFile, where + ": the pattern '" + pattern +
                                          "' cannot be compiled: " + ErrorText(error));
  }
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // may fail without JIT support; matching is
                                                       // then slower but equal
}

Regex Regex::Literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && std::isalnum(c) == 0) pattern += '\\';
    pattern += c;
  }
  return Regex(pattern, "a literal text");
}

Regex Regex::FromPattern(const TokenizerJson& field) {
  const TokenizerJson pattern = field["Regex"];
  if (pattern.is_null()) return Literal(field["String"].Text());
  return Regex(pattern.Text(), pattern.place());
}

void Regex::ForEachMatch(std::string_view text,
                         const std::function<void(size_t begin, size_t end)>& on_match) const {
  const MatchData match(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
  for (size_t at = 0; at <= text.size() && Find(code_.get(), text, at, match.get());) {
    const size_t begin = bounds[0], end = bounds[1];
    on_match(begin, end);
    at = end;
    if (begin == end && at < text.size()) {
      NextCodePoint(text, at);
    } else if (begin == end) {
      return;
    }
  }
}

}  // namespace agentr
