// Maps words to the numbers of their terms while several threads build an index. Each word is
// analysed (text_analyzer.h) once, and the result is stored.
#pragma once

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "games/search/string_table.h"

namespace agentr {

// Thread-safe.
class TermNumbers {
 public:
  static constexpr uint32_t kNoTerm = UINT32_MAX;  // of words that are not searched

  uint32_t Of(std::string_view word);

  // Call when all threads are done.
  StringTable TakeTerms() { return std::move(terms_); }

 private:
  std::shared_mutex mutex_;
  StringTable words_;
  std::vector<uint32_t> term_of_word_;
  StringTable terms_;
};

// A cache of recent words for one thread: 4 MiB, without locks, with one lookup per word.
class RecentTerms {
 public:
  explicit RecentTerms(TermNumbers& numbers) : numbers_(numbers), slots_(kSlots) {}

  uint32_t Of(std::string_view word);

 private:
  static constexpr size_t kSlots = 1 << 17;
  struct Slot {
    uint32_t term = 0;
    uint8_t size = 0;  // 0: free
    std::array<char, 27> word;
  };
  static_assert(sizeof(Slot) == 32);

  TermNumbers& numbers_;
  std::vector<Slot> slots_;
};

}  // namespace agentr
