#include "common/random.h"

namespace agentr {

RandomStream RandomStream::Split(std::string_view name) const {
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a, 64 bit
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return Split(hash);
}

uint64_t RandomStream::Below(uint64_t n) {
  // The last block of n values is incomplete. Draws from it would favour small values, so they are
  // repeated.
  const uint64_t limit = -n % n;
  uint64_t draw = Next();
  while (draw < limit) draw = Next();
  return draw % n;
}

}  // namespace agentr
