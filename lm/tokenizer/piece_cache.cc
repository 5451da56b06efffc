#include "lm/tokenizer/piece_cache.h"

namespace agentr {

bool PieceCache::Find(std::string_view piece, std::vector<int32_t>& ids) const {
  if (piece.size() > kMaxPiece) return false;
  const Shard& shard = shards_[ShardOf(piece)];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.pieces.find(piece);
  if (found == shard.pieces.end()) return false;
  ids.insert(ids.end(), found->second.begin(), found->second.end());
  return true;
}

void PieceCache::Insert(std::string_view piece, const int32_t* ids, size_t count) {
  if (piece.size() > kMaxPiece) return;
  Shard& shard = shards_[ShardOf(piece)];
  const std::lock_guard lock(shard.mutex);
  if (shard.pieces.size() >= kShardPieces) shard.pieces.clear();
  shard.pieces.try_emplace(std::string(piece), ids, ids + count);
}

size_t PieceCache::size() const {
  size_t size = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    size += shard.pieces.size();
  }
  return size;
}

}  // namespace agentr
