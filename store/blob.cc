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
  const auto size = static_cast<size_t>(rows.Int(0, 1));
  std::optional<std::string> bytes = Gunzip(rows.Text(0, 0), size);
  if (!bytes || bytes->size() != size || Sha256(*bytes) != rows.Text(0, 2)) {
    throw DamagedData(
        fmt::format("{} is damaged in the database: its bytes do not have the size "
                    "and the SHA-256 {} that were stored with them",
                    what, rows.Text(0, 2)));
  }
  return *std::move(bytes);
}

}  // namespace agentr
