// Records which blocks of the decoder's pool hold the keys and values of which tokens.
//
// The cache is a tree over token ids: a node is one block with its tokens, and the path from the
// root to it has the tokens before them. Only full blocks have children. A sequence pins the nodes
// of its path. Newly computed tokens are in the sequence's own blocks, which Commit turns into
// nodes, so that all computed tokens can be matched immediately and exactly. The last, partly
// filled block of a running sequence may also be a node: its owner writes after the tokens that the
// node lists. A sequence that matches a part of a block gets a copy. Unpinned nodes stay until a
// block is needed; then the leaf that was unpinned longest ago is evicted first. (Radix attention:
// Zheng et al. 2024, section 3.)
//
// Every block is either free, or belongs to a node or to one table. Used only by the decoder's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "lm/decoder/decoder.h"

namespace agentr {

class PrefixCache {
  struct Node;

 public:
  // The blocks that a sequence holds. Only the cache changes it; Release must be called at the end.
  class BlockTable {
   public:
    explicit BlockTable(uint64_t scope = 0) : scope_(scope) {}

    std::span<const int32_t> blocks() const { return blocks_; }
    int32_t tokens() const { return tokens_; }  // computed positions: 0 … tokens - 1
    uint64_t scope() const { return scope_; }

   private:
    friend class PrefixCache;
    uint64_t scope_;
    std::vector<int32_t> blocks_;
    std::vector<Node*> nodes_;  // pinned; nodes_[i] has blocks_[i], and the later blocks are this
                                // table's own. Only the last may be partly filled; this table
                                // writes to it
    int32_t tokens_ = 0;
  };

  // What Match would return.
  struct Prefix {
    int32_t tokens = 0;   // cached
    int32_t blocks = 0;   // full blocks, which are shared
    int32_t pinning = 0;  // those of the full blocks that no table holds: pinning makes them
                          // unavailable
  };

  // Without `keep`, a node is removed when no table holds it.
  explicit PrefixCache(Decoder& decoder, bool keep = true);
  ~PrefixCache();

  // Tables share blocks only within their `scope`.
  Prefix Find(uint64_t scope, std::span<const int32_t> tokens) const;

  // Gives the empty `table` the longest cached prefix of `tokens`. Throws what Decoder::CopyBlock
  // throws; the table then stays valid.
  void Match(BlockTable& table, std::span<const int32_t> tokens);

  // Makes room for positions 0 … positions - 1; returns false and changes nothing if memory is
  // short.
  bool Reserve(BlockTable& table, int32_t positions);

  // `tokens`: all tokens of the table, which are all computed. Blocks of another sequence with the
  // same tokens replace the table's own blocks.
  void Commit(BlockTable& table, std::span<const int32_t> tokens);

  // Unpins the nodes and frees the table's own blocks; the table is then empty.
  void Release(BlockTable& table);

  // Removes everything. All tables must be empty.
  void Clear();

  int32_t available() const;  // blocks that are free or can be evicted
  int32_t in_use() const;     // blocks that are not free
  int64_t evicted() const { return evicted_; }

 private:
  struct ByTokens {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const;
  };
  struct LetGoEarlier {
    bool operator()(const Node* a, const Node* b) const;
  };
  using Children = std::set<std::unique_ptr<Node>, ByTokens>;

  Node* Nearest(const Node& parent, std::span<const int32_t> tokens, int32_t& common) const;
  Node* Insert(Node& parent, std::span<const int32_t> tokens, int32_t block);
  void CopyPart(BlockTable& table, Node& node, int32_t tokens);
  void Pin(Node& node);
  void Unpin(Node& node);
  void Remove(Node& node);
  int32_t Allocate();  // -1: none

  Decoder& decoder_;
  const int32_t block_tokens_;
  const bool keep_;
  std::map<uint64_t, std::unique_ptr<Node>> roots_;  // by scope
  std::vector<int32_t> free_;
  std::set<Node*, LetGoEarlier> evictable_;  // unpinned leaves
  int32_t unpinned_ = 0;                     // nodes
  int64_t clock_ = 0;
  int64_t evicted_ = 0;
};

}  // namespace agentr
