// Compression in gzip's format.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agentr {

// The levels of zlib: the smallest result takes several times as long.
enum class GzipLevel { kUsual = 6, kSmallest = 9 };

// Throws FatalError(kFile) if memory is short.
std::string Gzip(std::string_view bytes, GzipLevel level);

// The bytes from which Gzip made `compressed`; nullopt if it is no whole gzip stream, or if it
// contains more than `most` bytes.
std::optional<std::string> Gunzip(std::string_view compressed, size_t most);

}  // namespace agentr
