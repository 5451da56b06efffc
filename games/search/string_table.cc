#include "games/search/string_table.h"

#include <functional>

namespace agentr {

namespace {

size_t HashOf(std::string_view text) { return std::hash<std::string_view>{}(text); }
uint32_t TagOf(size_t hash) { return static_cast<uint32_t>(hash >> 32); }

}  // namespace

size_t StringTable::SlotOf(std::string_view text, size_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const auto [number, tag] = slots_[slot];
    if (number == kNone || (tag == TagOf(hash) && (*this)[number] == text)) return slot;
  }
}

void StringTable::Rehash(size_t slots) {
  slots_.assign(slots, {});
  for (uint32_t i = 0; i < size(); ++i) {
    const size_t hash = HashOf((*this)[i]);
    slots_[SlotOf((*this)[i], hash)] = {i, TagOf(hash)};
  }
}

uint32_t StringTable::Intern(std::string_view text) {
  const size_t hash = HashOf(text);
  const size_t slot = SlotOf(text, hash);
  if (slots_[slot].number != kNone) return slots_[slot].number;
  const uint32_t number = size();
  text_ += text;
  begins_.push_back(static_cast<uint32_t>(text_.size()));
  slots_[slot] = {number, TagOf(hash)};
  if (4 * size_t{size()} > 3 * slots_.size()) Rehash(2 * slots_.size());
  return number;
}

uint32_t StringTable::Find(std::string_view text) const {
  return slots_[SlotOf(text, HashOf(text))].number;
}

void StringTable::Shrink() {
  text_.shrink_to_fit();
  begins_.shrink_to_fit();
}

size_t StringTable::bytes() const {
  return text_.capacity() + begins_.capacity() * sizeof(uint32_t) +
         slots_.capacity() * sizeof(Slot);
}

}  // namespace agentr
