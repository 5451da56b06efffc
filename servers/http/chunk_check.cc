#include "servers/http/chunk_check.h"

#include <algorithm>

namespace agentr {
namespace {

constexpr int kMostDigits = 15;          // limits a length so that it does not overflow
constexpr size_t kMostExtension = 1024;  // bytes of all chunk extensions together

}  // namespace

size_t ChunkCheck::Take(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size() && state_ != State::kEnded && state_ != State::kBroken) {
    if (state_ == State::kData) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(length_, bytes.size() - at));
      at += n;
      length_ -= n;
      if (length_ == 0) state_ = State::kDataEnd;
    } else {
      Next(bytes[at++]);
    }
  }
  return at;
}

bool ChunkCheck::AddDigit(char c) {
  const char lower = static_cast<char>(c | 0x20);
  const int value = c >= '0' && c <= '9'           ? c - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : -1;
  if (value < 0 || ++digits_ > kMostDigits) return false;
  length_ = length_ * 16 + static_cast<uint64_t>(value);
  return true;
}

// After the line of a length.
void ChunkCheck::EndOfLength() {
  state_ = length_ > 0 ? State::kData : State::kLastLine;
  digits_ = 0;
}

void ChunkCheck::Next(char c) {
  if (carriage_return_) {
    carriage_return_ = false;
    if (c != '\n') {
      state_ = State::kBroken;
    } else if (state_ == State::kDataEnd) {
      state_ = State::kLength;
      length_ = 0;
    } else if (state_ == State::kLastLine) {
      state_ = State::kEnded;
    } else {
      EndOfLength();
    }
    return;
  }
  const bool in_length = state_ == State::kLength;
  if (in_length && AddDigit(c)) return;
  if (in_length && digits_ > 0 && digits_ <= kMostDigits && c == ';') {
    state_ = State::kExtension;
  } else if (c == '\r' && !(in_length && (digits_ == 0 || digits_ > kMostDigits))) {
    carriage_return_ = true;
  } else if (state_ != State::kExtension || c == '\n' || ++extension_ > kMostExtension) {
    state_ = State::kBroken;  // this includes trailer fields after the last chunk, which our
                              // clients never send
  }
}

}  // namespace agentr
