// JSON that comes from outside the process, parsed with a limit on how deep it is nested.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace agentr {

// Deeper than any request, reply or file here, but for trees of Agent-R, whose nodes are nested.
// Without a limit 30 MB of "[" take 2.3 GB, and what is done with values is recursive.
inline constexpr int kDeepestJson = 100;
inline constexpr int kDeepestTree = 4000;

// Where in `text` arrays and objects are nested deeper than `deepest`, as far as a parser would read
// it; npos where nowhere. Takes no memory. For text that is no JSON either answer.
size_t TooDeepAt(std::string_view text, int deepest = kDeepestJson);

inline bool IsTooDeep(std::string_view text) { return TooDeepAt(text) != std::string_view::npos; }

// The value; a discarded one (is_discarded) for what is no JSON, or nested too deep.
template <typename Json = nlohmann::json>
Json ParseJson(std::string_view text) {
  if (IsTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The value. Throws Json::parse_error for what is no JSON, or nested too deep, and what else
// Json::parse throws.
template <typename Json = nlohmann::json>
Json ParseJsonOrThrow(std::string_view text, int deepest = kDeepestJson) {
  if (const size_t at = TooDeepAt(text, deepest); at != std::string_view::npos) {
    constexpr int kParseError = 101;  // nlohmann's number of it
    throw Json::parse_error::create(kParseError, at,
                                    fmt::format("nested deeper than {} levels", deepest), nullptr);
  }
  return Json::parse(text);
}

}  // namespace agentr
