// Checks the bytes of a chunked body (RFC 9112, 7.1) before the library sees them, because the
// library accepts wrong chunk lengths ("+5", "0x5", "-1"), and finds the body's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agentr {

class ChunkCheck {
 public:
  // The number of the next bytes that belong to the body; fewer than all if it ends among them. 0
  // once the body has ended or is `broken`.
  size_t Take(std::string_view bytes);

  bool ended() const { return state_ == State::kEnded; }
  bool broken() const { return state_ == State::kBroken; }

 private:
  enum class State { kLength, kExtension, kData, kDataEnd, kLastLine, kEnded, kBroken };

  void Next(char c);
  void EndOfLength();
  // Adds a digit to the length; false if `c` is not a digit.
  bool AddDigit(char c);

  State state_ = State::kLength;
  uint64_t length_ = 0;  // of the chunk; within its data, the number of bytes left
  int digits_ = 0;
  size_t extension_ = 0;
  bool carriage_return_ = false;
};

}  // namespace agentr
