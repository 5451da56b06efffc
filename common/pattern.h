// Regular expressions of files that users write, with PCRE2 in its own syntax (man pcre2pattern).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace agentr {

// Immutable and thread-safe. ^ and $ match at the begin and end of each line, and letters, digits
// and white space are Unicode's. A text that a pattern cannot be compared with in a bounded time
// does not match it.
class Pattern {
 public:
  // Throws FatalError(kUsage) with the reason and the place in the pattern.
  explicit Pattern(std::string_view pattern);

  const std::string& text() const { return text_; }

  bool Matches(std::string_view text) const { return First(text).has_value(); }

  // The group of this number, 0: all, in the first or the last match; nullopt: there is none.
  std::optional<std::string> First(std::string_view text, int group = 0) const;
  std::optional<std::string> Last(std::string_view text, int group = 0) const;

  // The group of this number in every match, in order.
  std::vector<std::string> All(std::string_view text, int group = 0) const;

  // How many groups it has.
  int groups() const { return groups_; }

  // The text with each match replaced by `by`; `matches` receives what was replaced.
  std::string Replaced(std::string_view text, std::string_view by,
                       std::vector<std::string>* matches = nullptr) const;

 private:
  template <typename OnMatch>
  void ForEachMatch(std::string_view text, OnMatch&& on_match) const;

  std::string text_;
  std::shared_ptr<pcre2_real_code_8> code_;
  int groups_ = 0;
};

}  // namespace agentr
