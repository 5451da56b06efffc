#include "games/webshop/word_list.h"

#include <algorithm>

namespace agentr {

std::vector<std::string_view> ListedWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.empty()) return words;
    const bool comment = text.front() == '#';
    const size_t size = std::min(text.find_first_of(comment ? "\n" : " \t\r\n#"), text.size());
    if (!comment) words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
}

}  // namespace agentr
