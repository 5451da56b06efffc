#include "revision/thoughts.h"

#include <algorithm>

#include "common/error.h"

namespace agentr {
namespace embedded {
extern const std::string_view kRevisionThoughts;
}  // namespace embedded

std::vector<std::string> ParseThoughts(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string> thoughts;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    line.remove_suffix(line.size() - (line.find_last_not_of(kBlank) + 1));
    if (!line.empty() && line.front() != '#') thoughts.emplace_back(line);
  }
  if (thoughts.empty()) {
    throw FatalError(ExitCode::kUsage, "a file of revision thoughts has none: write one per line");
  }
  return thoughts;
}

const std::vector<std::string>& BuiltInThoughts() {
  static const std::vector<std::string> thoughts = ParseThoughts(embedded::kRevisionThoughts);
  return thoughts;
}

}  // namespace agentr
