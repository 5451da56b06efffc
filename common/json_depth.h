// Parses JSON from outside the process with a limit on its nesting depth.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace agentr {

// More than any request, reply or file needs. Without a limit 30 MB of "[" take 2.3 GB, and code
// that walks a value recursively could overflow the stack.
inline constexpr int kDeepestJson = 100;

// True if arrays and objects in `text` are nested deeper than kDeepestJson in the part that a
// parser would read; uses no memory. For text that is not JSON the answer means nothing.
bool IsTooDeep(std::string_view text);

// The value; a discarded one (is_discarded) if the text is not JSON or is nested too deep.
nlohmann::json ParseJson(std::string_view text);

}  // namespace agentr
