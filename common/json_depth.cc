#include "common/json_depth.h"

#include <utility>

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

namespace {

// What a file of another kind is, by its first bytes, with the cure; "" for others.
std::string_view AnotherKind(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\x1f\x8b", "it is compressed with gzip; unpack it first (gunzip)"},
      {"\x28\xb5\x2f\xfd", "it is compressed with zstd; unpack it first (unzstd)"},
      {"PK\x03\x04", "it is a ZIP archive; unpack it first (unzip)"},
      {"PAR1",
       "it is a Parquet file; write it as JSON lines, for example with to_json of datasets"},
      {"\xff\xfe", "it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8"},
      {"\xfe\xff", "it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8"},
      {"version https://git-lfs",
       "it is a pointer of Git LFS: its file is not downloaded (git lfs "
       "pull)"},
      {"data:", "it is a stream of events, where one reply was asked for"},
      {"event:", "it is a stream of events, where one reply was asked for"},
      {"<", "it is a page of HTML or XML"}};
  for (const auto& [begin, kind] : kKinds) {
    if (text.starts_with(begin)) return kind;
  }
  return "";
}

}  // namespace

std::string JsonFault(std::string_view text, int deepest) {
  if (const std::string_view kind = AnotherKind(text); !kind.empty()) return std::string(kind);
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
