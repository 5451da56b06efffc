// Reads the word lists of configs/webshop: words are separated by white space; "#" starts a comment
// until the end of the line.
#pragma once

#include <string_view>
#include <vector>

namespace agentr {

// The words in order; views into `text`.
std::vector<std::string_view> ListedWords(std::string_view text);

}  // namespace agentr
