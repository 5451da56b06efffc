// Distinct strings, numbered from 0 in the order they came; compact: about 10 bytes beside the
// text. One thread fills it; reading is thread-safe afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

class StringTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The number of the string, which is added if new.
  uint32_t Intern(std::string_view text);

  // The number of the string, or kNone.
  uint32_t Find(std::string_view text) const;

  std::string_view operator[](uint32_t number) const {
    return std::string_view(text_).substr(begins_[number], begins_[number + 1] - begins_[number]);
  }
  uint32_t size() const { return static_cast<uint32_t>(begins_.size() - 1); }

  // Gives back what was reserved for growth.
  void Shrink();
  size_t bytes() const;

 private:
  // A string's number and half of its hash, so that other strings are seldom looked at.
  struct Slot {
    uint32_t number = kNone;
    uint32_t tag = 0;
  };

  // Where the string is, or the free slot where it belongs.
  size_t SlotOf(std::string_view text, size_t hash) const;
  void Rehash(size_t slots);

  std::string text_;                 // all strings, one after the other; below 4 GiB
  std::vector<uint32_t> begins_{0};  // and the end of the last one
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, a quarter free
};

}  // namespace agentr
