// Where a tensor's numbers are computed. On the CPU training has loops of its own, which are much
// faster there; on every other device it uses LibTorch's operators (model/operators.h).
#pragma once

#include <ATen/ATen.h>

namespace agentr {

// While an object of this class lives, LibTorch's operators are used on the CPU too, so that tests
// can compare them with our loops.
class WithOperators {
 public:
  WithOperators() { ++alive_; }
  ~WithOperators() { --alive_; }
  WithOperators(const WithOperators&) = delete;
  WithOperators& operator=(const WithOperators&) = delete;
  static bool Any() { return alive_ > 0; }

 private:
  static inline int alive_ = 0;
};

// Whether our own loops compute `x`.
inline bool HasOwnLoops(const at::Tensor& x) {
  return x.device().is_cpu() && !WithOperators::Any();
}

}  // namespace agentr
