// A compact table of distinct strings, numbered from 0 in the order of insertion, with about 10
// bytes per string in addition to its text. One thread fills it; after that, reading is
// thread-safe.
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

  // Frees the memory that was reserved for growth.
  void Shrink();
  size_t bytes() const;

 private:
  // A string's number and half of its hash, so that other strings are seldom compared.
  struct Slot {
    uint32_t number = kNone;
    uint32_t tag = 0;
  };

  // The slot of the string, or the free slot where it belongs.
  size_t SlotOf(std::string_view text, size_t hash) const;
  void Rehash(size_t slots);

  std::string text_;                 // all strings, one after the other; less than 4 GiB
  std::vector<uint32_t> begins_{0};  // the beginning of each string, and the end of the last one
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, a quarter free
};

}  // namespace agentr
