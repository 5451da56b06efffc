#include "common/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/core.h>
#include <pcre2.h>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;  // of one comparison

std::string ErrorText(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;
using MatchContext = std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>;

// What group `group` of a match spans.
std::string GroupOf(std::string_view text, const PCRE2_SIZE* spans, int group) {
  const PCRE2_SIZE begin = spans[2 * group], end = spans[2 * group + 1];
  return begin == PCRE2_UNSET ? "" : std::string(text.substr(begin, end - begin));
}

}  // namespace

Pattern::Pattern(std::string_view pattern) : text_(pattern) {
  int error = 0;
  PCRE2_SIZE place = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &place, nullptr),
              pcre2_code_free);
  if (code_ == nullptr) {
    throw FatalError(ExitCode::kUsage, fmt::format("the pattern '{}' is wrong at character {}: {}",
                                                   pattern, place + 1, ErrorText(error)));
  }
  uint32_t groups = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  groups_ = static_cast<int>(groups);
}

// Calls on_match(ovector) for each match, until it returns false.
template <typename OnMatch>
void Pattern::ForEachMatch(std::string_view text, OnMatch&& on_match) const {
  if (!IsUtf8(text)) return;
  const MatchData match(pcre2_match_data_create_from_pattern(code_.get(), nullptr),
                        pcre2_match_data_free);
  const MatchContext context(pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_match_limit(context.get(), kMostSteps);
  for (size_t at = 0; at <= text.size();) {
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, 0, match.get(), context.get());
    if (found < 0) return;
    const PCRE2_SIZE* spans = pcre2_get_ovector_pointer(match.get());
    if (!on_match(spans)) return;
    at = spans[1];
    if (spans[0] != spans[1]) continue;
    // Behind an empty match: the next character begins.
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  }
}

std::optional<std::string> Pattern::First(std::string_view text, int group) const {
  std::optional<std::string> found;
  ForEachMatch(text, [&](const PCRE2_SIZE* spans) {
    found = GroupOf(text, spans, group);
    return false;
  });
  return found;
}

std::optional<std::string> Pattern::Last(std::string_view text, int group) const {
  std::optional<std::string> found;
  ForEachMatch(text, [&](const PCRE2_SIZE* spans) {
    found = GroupOf(text, spans, group);
    return true;
  });
  return found;
}

std::vector<std::string> Pattern::All(std::string_view text, int group) const {
  std::vector<std::string> found;
  ForEachMatch(text, [&](const PCRE2_SIZE* spans) {
    found.push_back(GroupOf(text, spans, group));
    return true;
  });
  return found;
}

std::string Pattern::Replaced(std::string_view text, std::string_view by,
                              std::vector<std::string>* matches) const {
  std::string replaced;
  size_t at = 0;
  ForEachMatch(text, [&](const PCRE2_SIZE* spans) {
    if (spans[0] == spans[1]) return true;
    if (matches != nullptr) matches->emplace_back(text.substr(spans[0], spans[1] - spans[0]));
    replaced += text.substr(at, spans[0] - at);
    replaced += by;
    at = spans[1];
    return true;
  });
  return replaced += text.substr(at);
}

}  // namespace agentr
