// Parses JSON from outside the process with a limit on its nesting depth, and writes JSON.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace agentr {

// More than any request, reply or file needs, except trees of Agent-R, whose nodes are nested.
// Without a limit 30 MB of "[" take 2.3 GB, and code that walks a value recursively could overflow
// the stack.
inline constexpr int kDeepestJson = 100;
inline constexpr int kDeepestTree = 4000;

// The place in `text` where arrays and objects are first nested deeper than `deepest`, in the part
// that a parser would read; npos if there is none. Uses no memory. For text that is not JSON the
// answer means nothing.
size_t TooDeepAt(std::string_view text, int deepest = kDeepestJson);

inline bool IsTooDeep(std::string_view text) { return TooDeepAt(text) != std::string_view::npos; }

// The value; a discarded one (is_discarded) if the text is not JSON or is nested too deep.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text) {
  if (IsTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The value. Throws Json::parse_error if the text is not JSON or is nested too deep, and whatever
// else Json::parse throws.
template <typename Json = nlohmann::json>
Json ParseJsonOrThrow(std::string_view text, int deepest = kDeepestJson) {
  if (const size_t at = TooDeepAt(text, deepest); at != std::string_view::npos) {
    constexpr int kParseError = 101;  // nlohmann's number of it
    throw Json::parse_error::create(kParseError, at,
                                    fmt::format("nested deeper than {} levels", deepest), nullptr);
  }
  return Json::parse(text);
}

// What keeps `text` from being JSON, with the place and the usual cure: "byte 12 is not UTF-8; …".
// Empty if it is JSON.
std::string JsonFault(std::string_view text, int deepest = kDeepestJson);

// The value as text, on one line or indented. Bytes that are not UTF-8 become U+FFFD.
template <typename Json = nlohmann::json>
std::string DumpJson(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace agentr
