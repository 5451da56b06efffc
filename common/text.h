// Text as it is stored and shown.
#pragma once

#include <string>

namespace agentr {

// An observation on one line: line breaks and tabs become spaces.
std::string OneLine(std::string text);

}  // namespace agentr
