#include "store/blob.h"

#include <fmt/core.h>

#include <optional>

#include "common/error.h"
#include "common/gzip.h"
#include "common/hash.h"

namespace agentr {

Blob Pack(std::string_view bytes) {
  return {Gzip(bytes, GzipLevel::kUsual), static_cast<int64_t>(bytes.size()), Sha256(bytes)};
}

std::string Unpack(const SqlRows& rows, const std::string& what) {
  // A gzip stream grows by at most this factor, so a larger size is damaged; it must not be
  // believed, because so much memory would be taken.
  constexpr int64_t kMostGrowth = 1032;
  const std::string_view packed = rows.Text(0, 0);
  const int64_t size = rows.Int(0, 1);
  const bool possible = size >= 0 && size / kMostGrowth <= std::ssize(packed);
  std::optional<std::string> bytes;
  if (possible) bytes = Gunzip(packed, static_cast<size_t>(size));
  if (!bytes || std::ssize(*bytes) != size || Sha256(*bytes) != rows.Text(0, 2)) {
    throw DamagedData(
        fmt::format("{} is damaged in the database: its bytes do not have the size "
                    "and the SHA-256 {} that were stored with them",
                    what, rows.Text(0, 2)));
  }
  return *std::move(bytes);
}

}  // namespace agentr
