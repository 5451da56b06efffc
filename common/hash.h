#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agentr {

// SHA-256 of bytes that come in parts.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void Add(std::string_view bytes);

  // Of all that was added, as 64 lower-case hexadecimal digits. Call it once, at the end.
  std::string Digest();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace agentr
