// Caches the ids of encoded pieces, for many threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lm/tokenizer/text_map.h"

namespace agentr {

// Its size is limited: a full shard is emptied, and pieces over kMaxPiece bytes are not stored.
// Thread-safe.
class PieceCache {
 public:
  static constexpr size_t kMaxPiece = 128;

  // Appends the ids of `piece` if they are known.
  bool Find(std::string_view piece, std::vector<int32_t>& ids) const;
  void Insert(std::string_view piece, const int32_t* ids, size_t count);

  size_t size() const;
  static constexpr size_t capacity() { return kShards * kShardPieces; }

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kShardPieces = 2048;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    TextMap<std::vector<int32_t>> pieces;
  };
  static size_t ShardOf(std::string_view piece) { return TextHash()(piece) / 64 % kShards; }

  std::array<Shard, kShards> shards_;
};

}  // namespace agentr
