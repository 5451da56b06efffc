#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The thoughts of a text such as configs/revision/thoughts.txt: one per line; "#" comments and
// empty lines do not count. Throws FatalError(kUsage) when it holds none.
std::vector<std::string> ParseThoughts(std::string_view text);

// The built-in ones.
const std::vector<std::string>& BuiltInThoughts();

}  // namespace agentr
