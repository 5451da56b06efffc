// Lists of words as configs/webshop writes them: separated by white space; "#" starts a comment
// that goes to the end of its line.
#pragma once

#include <string_view>
#include <vector>

namespace agentr {

// In order; views into `text`.
std::vector<std::string_view> ListedWords(std::string_view text);

}  // namespace agentr
