// Watches the bytes of a chunked body (RFC 9112, 7.1) on their way to the library, which reads the
// lengths of chunks more freely than it should ("+5", "0x5", "-1"), and finds the body's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agentr {

class ChunkCheck {
 public:
  // How many of the next bytes belong to the body; fewer than all where it ends among them.
  // Nothing further is taken once the body has ended or is `broken`.
  size_t Take(std::string_view bytes);

  bool ended() const { return state_ == State::kEnded; }
  bool broken() const { return state_ == State::kBroken; }

 private:
  enum class State { kLength, kExtension, kData, kDataEnd, kLastLine, kEnded, kBroken };

  void Next(char c);
  void EndOfLength();
  // True for the digit of a length, which is added.
  bool AddDigit(char c);

  State state_ = State::kLength;
  uint64_t length_ = 0;  // of the chunk; while in its data, what is left
  int digits_ = 0;
  size_t extension_ = 0;
  bool carriage_return_ = false;
};

}  // namespace agentr
