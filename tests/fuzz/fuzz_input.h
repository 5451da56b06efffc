// What the fuzz targets share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/common/scratch_folder.h"

namespace agentr {

// Ends the program if a property does not hold; libFuzzer then reports the input.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view AsText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A folder that lasts as long as the program, for readers of files. It is in memory if the system
// allows it, because each input is written to it.
inline const ScratchFolder& FuzzFolder() {
  static const ScratchFolder folder = [] {
    if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
    return ScratchFolder();
  }();
  return folder;
}

}  // namespace agentr
