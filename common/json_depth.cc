#include "common/json_depth.h"

#include "common/text.h"

namespace agentr {

size_t TooDeepAt(std::string_view text, int deepest) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return at;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

std::string JsonFault(std::string_view text, int deepest) {
  try {
    ParseJsonOrThrow(text, deepest);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view what = error.what();
    const auto is_about = [&](std::string_view words) {
      return what.find(words) != std::string_view::npos;
    };
    if (is_about("nested deeper"))
      return fmt::format("it is nested deeper than {} levels", deepest);
    if (is_about("UTF-8")) {
      return fmt::format(
          "byte {} is not UTF-8; convert the text, for example with iconv -f LATIN1 -t UTF-8",
          1 + Utf8Prefix(text));
    }
    if (is_about("surrogate")) {
      return fmt::format(
          "half a surrogate pair at byte {}: a character was cut in two; write it whole, or "
          "\\ufffd "
          "in its place",
          error.byte);
    }
    if (error.byte > text.size()) {
      return fmt::format("it ends after {} bytes in the middle of a value; it may be truncated",
                         text.size());
    }
    return fmt::format("no JSON at byte {}", error.byte);
  } catch (const nlohmann::json::out_of_range&) {
    return "a number is beyond the range of double";
  }
  return "";
}

}  // namespace agentr
