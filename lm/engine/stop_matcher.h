// Ends a text, which arrives in pieces, at the first of several stop strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The results of Add and Finish together are the text before the first complete stop string (if
// several end at the same place, the longest). They do not depend on the division into pieces.
class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop) : stop_(std::move(stop)) {}  // none empty

  // Returns the text that is final: no stop string can begin in it. Empty once stopped.
  std::string Add(std::string_view piece);

  // Returns the rest of the text if it ends without a stop string.
  std::string Finish();

  bool stopped() const { return stopped_; }

 private:
  size_t Undecided() const;

  std::vector<std::string> stop_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace agentr
