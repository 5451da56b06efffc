#include "common/nearest_name.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "common/text.h"

namespace agentr {
namespace {

std::string Plain(std::string_view name) {
  std::string plain = AsciiLower(name);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

// The distance of Damerau and Levenshtein in which no letter is changed twice.
size_t Changes(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string NearestName(std::string_view typed, std::span<const std::string> names) {
  if (typed.size() > 100) return "";
  std::string nearest;
  size_t fewest = std::max<size_t>(1, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t changes = Changes(Plain(typed), Plain(name));
    if (changes < fewest) std::tie(fewest, nearest) = std::pair(changes, name);
  }
  if (!nearest.empty()) return nearest;
  for (const std::string& name : names) {
    const bool longer = name.size() > typed.size() && Plain(name).starts_with(Plain(typed) + "_");
    if (longer && (nearest.empty() || name.size() < nearest.size())) nearest = name;
  }
  return nearest;
}

std::string DidYouMean(std::string_view typed, std::span<const std::string> names) {
  const std::string nearest = NearestName(typed, names);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace agentr
