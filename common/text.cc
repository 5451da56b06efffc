#include "common/text.h"

#include <algorithm>

namespace agentr {

std::string OneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

}  // namespace agentr
