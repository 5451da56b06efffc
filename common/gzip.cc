#include "common/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "common/error.h"

namespace agentr {
namespace {

constexpr int kFormat = 15 + 16;  // the largest window, and a gzip header instead of zlib's

// zlib reads its input through a pointer to bytes that are not const.
Bytef* Input(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::string Gzip(std::string_view bytes, GzipLevel level) {
  z_stream stream{};
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, static_cast<int>(level), Z_DEFLATED, kFormat, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw FatalError(ExitCode::kFile, "zlib cannot start: out of memory");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = Input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // cannot fail: the output has the size of deflateBound
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::optional<std::string> Gunzip(std::string_view compressed, size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kFormat) != Z_OK) {
    throw FatalError(ExitCode::kFile, "zlib cannot start: out of memory");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = Input(compressed);
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  std::array<char, 65536> part;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(part.data(), part.size() - stream.avail_out);
  }
  if (state != Z_STREAM_END || stream.avail_in > 0 || out.size() > most) return std::nullopt;
  return out;
}

}  // namespace agentr
