#include "common/config_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
bool ConfigLines::Next() {
  while (!rest_.empty()) {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = Trim(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    if (!line_.empty() && line_.front() != '#') return true;
  }
  return false;
}

std::optional<std::string_view> ConfigLines::Heading() const {
  if (line_.front() != '[') return std::nullopt;
  if (line_.back() != ']') Stop("'[' without ']' at the end of the line");
  const std::string_view heading = Trim(line_.substr(1, line_.size() - 2));
  if (heading.empty()) Stop("the heading has no name");
  return heading;
}

ConfigLines::Sides ConfigLines::Split(char separator) const {
  const size_t at = line_.find(separator);
  if (at == std::string_view::npos) Stop(fmt::format("expected a '{}' in this line", separator));
  const Sides sides{Trim(line_.substr(0, at)), Trim(line_.substr(at + 1))};
  if (sides.left.empty() || sides.right.empty()) {
    Stop(fmt::format("one side of '{}' is empty", separator));
  }
  return sides;
}

std::vector<std::string> ConfigLines::Pieces(std::string_view text, char separator) const {
  std::vector<std::string> pieces;
  for (const std::string_view piece : SplitText(text, separator)) {
    if (piece.empty()) Stop(fmt::format("one side of '{}' is empty", separator));
    pieces.emplace_back(piece);
  }
  return pieces;
}

void ConfigLines::Stop(std::string_view reason) const {
  throw FatalError(ExitCode::kFile, fmt::format("{}:{}: {}", name_, number_, reason));
}

}  // namespace agentr
