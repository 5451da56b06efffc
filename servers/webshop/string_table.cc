#include "servers/webshop/string_table.h"

#include <functional>

namespace agentr {

size_t StringTable::SlotOf(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>{}(text)&mask;
  while (slots_[slot] != kNone && (*this)[slots_[slot]] != text) slot = (slot + 1) & mask;
  return slot;
}

void StringTable::Rehash(size_t slots) {
  slots_.assign(slots, kNone);
  for (uint32_t i = 0; i < size(); ++i) slots_[SlotOf((*this)[i])] = i;
}

uint32_t StringTable::Intern(std::string_view text) {
  size_t slot = SlotOf(text);
  if (slots_[slot] != kNone) return slots_[slot];
  const uint32_t number = size();
  text_ += text;
  begins_.push_back(static_cast<uint32_t>(text_.size()));
  slots_[slot] = number;
  if (2 * size_t{size()} > slots_.size()) Rehash(2 * slots_.size());
  return number;
}

uint32_t StringTable::Find(std::string_view text) const { return slots_[SlotOf(text)]; }

void StringTable::Shrink() {
  text_.shrink_to_fit();
  begins_.shrink_to_fit();
}

size_t StringTable::bytes() const {
  return text_.capacity() + sizeof(uint32_t) * (begins_.capacity() + slots_.capacity());
}

}  // namespace agentr
