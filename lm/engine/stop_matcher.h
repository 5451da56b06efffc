// Ends a text at the first of some stop strings, wherever the pieces it arrives in are cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// What Add and Finish have returned, together, is the text before the stop string that is complete
// first (of those that end together, the longest); it does not depend on the cuts.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop) : stop_(std::move(stop)) {}  // none empty

  // The text that is certain now: no stop string can begin in it. Empty once stopped.
  std::string Add(std::string_view piece);

  // What was held back, where the text ends without a stop string.
  std::string Finish();

  bool stopped() const { return stopped_; }

 private:
  size_t Undecided() const;

  std::vector<std::string> stop_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace agentr
