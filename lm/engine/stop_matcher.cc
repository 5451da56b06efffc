#include "lm/engine/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace agentr {

std::string StopMatcher::Add(std::string_view piece) {
  if (stopped_) return "";
  held_ += piece;
  size_t begin = std::string::npos;
  size_t end = std::string::npos;
  for (const std::string& stop : stop_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  stopped_ = begin != std::string::npos;
  const size_t certain = stopped_ ? begin : held_.size() - Undecided();
  std::string text = held_.substr(0, certain);
  held_.erase(0, stopped_ ? held_.size() : certain);
  return text;
}

std::string StopMatcher::Finish() { return std::exchange(held_, ""); }

// The length of the longest suffix of held_ that is a prefix of a stop string.
size_t StopMatcher::Undecided() const {
  size_t longest = 0;
  for (const std::string& stop : stop_) {
    for (size_t length = std::min(stop.size() - 1, held_.size()); length > longest; --length) {
      if (held_.ends_with(std::string_view(stop).substr(0, length))) longest = length;
    }
  }
  return longest;
}

}  // namespace agentr
