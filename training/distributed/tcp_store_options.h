// Options of c10d's TCPStore that differ between the versions of LibTorch.
#pragma once

namespace agentr {

// From LibTorch 2.4 on the store uses libuv by default; Debian's package is built without it.
template <typename Options>
Options WithoutLibUv(Options options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
  return options;
}

}  // namespace agentr
