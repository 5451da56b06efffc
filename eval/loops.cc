#include "eval/loops.h"

#include <algorithm>

namespace agentr {
namespace {

// True if the actions are several repetitions of a shorter block.
bool HasShorterPeriod(std::span<const std::string_view> block) {
  for (size_t period = 1; period <= block.size() / 2; ++period) {
    if (block.size() % period != 0) continue;
    if (std::equal(block.begin() + static_cast<ptrdiff_t>(period), block.end(), block.begin())) {
      return true;
    }
  }
  return false;
}

int64_t RepeatsOf(std::span<const std::string_view> actions, size_t length) {
  int64_t repeats = 0;
  size_t equal = 0;  // number of consecutive actions up to here that equal the one `length` places
                     // before
  for (size_t at = length; at <= actions.size(); ++at) {
    if (at < actions.size() && actions[at] == actions[at - length]) {
      ++equal;
      continue;
    }
    // A stretch ends. If it has a shorter period too, the greatest common divisor of both is also a
    // period (Fine, Wilf 1965), because the stretch contains each twice. So only divisors of
    // `length` need a check.
    if (equal >= length && !HasShorterPeriod(actions.subspan(at - length, length))) {
      repeats += static_cast<int64_t>(equal / length);
    }
    equal = 0;
  }
  return repeats;
}

}  // namespace

std::vector<int64_t> CountRepeats(std::span<const std::string_view> actions, int longest) {
  std::vector<int64_t> repeats;
  for (int length = 1; length <= longest; ++length) {
    repeats.push_back(RepeatsOf(actions, static_cast<size_t>(length)));
  }
  return repeats;
}

}  // namespace agentr
