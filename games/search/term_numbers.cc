#include "games/search/term_numbers.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>

#include "games/search/text_analyzer.h"

namespace agentr {

uint32_t TermNumbers::Of(std::string_view word) {
  {
    const std::shared_lock lock(mutex_);
    const uint32_t number = words_.Find(word);
    if (number != StringTable::kNone) return term_of_word_[number];
  }
  const std::string term = TermOf(word);
  const std::unique_lock lock(mutex_);
  const uint32_t number = words_.Intern(word);
  if (number == term_of_word_.size()) {  // otherwise another thread added it in the meantime
    term_of_word_.push_back(term.empty() ? kNoTerm : terms_.Intern(term));
  }
  return term_of_word_[number];
}

uint32_t RecentTerms::Of(std::string_view word) {
  if (word.size() > std::tuple_size_v<decltype(Slot::word)>) return numbers_.Of(word);
  Slot& slot = slots_[std::hash<std::string_view>{}(word) % kSlots];
  if (std::string_view(slot.word.data(), slot.size) != word) {
    slot.term = numbers_.Of(word);
    slot.size = static_cast<uint8_t>(word.size());
    std::ranges::copy(word, slot.word.begin());
  }
  return slot.term;
}

}  // namespace agentr
