// JSON that comes from outside the process, parsed with a limit on how deep it is nested.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace agentr {

// Deeper than any request, reply or file here. Without a limit 30 MB of "[" take 2.3 GB, and what
// is done with values is recursive.
inline constexpr int kDeepestJson = 100;

// True if arrays and objects in `text` are nested deeper than kDeepestJson, as far as a parser
// would read it; takes no memory. For text that is no JSON either answer.
bool IsTooDeep(std::string_view text);

// The value; a discarded one (is_discarded) for what is no JSON, or nested too deep.
nlohmann::json ParseJson(std::string_view text);

}  // namespace agentr
