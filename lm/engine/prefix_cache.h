// Which blocks of the decoder's pool hold the keys and values of which tokens.
//
// A tree over token ids: a node is one block with the tokens that it holds, its path from the root
// the tokens before them. Only full blocks have children. A sequence holds (pins) the nodes of its
// path; what it computes stands in blocks of its own, which Commit makes nodes, so that everything
// computed can be matched at once, to the token. The last, partly filled block of a running
// sequence may be a node too: its owner writes behind the tokens that the node speaks of. Who
// matches a part of a block gets a copy. Unpinned nodes stay until a block is needed; then the leaf
// goes first that was let go of longest ago. (Radix attention: Zheng et al. 2024, section 3.)
//
// Memory: every block is free, a node's, or a table's own. One thread at a time, the decoder's.
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
  // What a sequence holds. Only the cache changes it; ends with Release.
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
    std::vector<Node*> nodes_;  // pinned; nodes_[i] has blocks_[i], the later blocks are own. Only
                                // the last may be partly filled: this table's own to write on
    int32_t tokens_ = 0;
  };

  // What Match would find.
  struct Prefix {
    int32_t tokens = 0;   // cached
    int32_t blocks = 0;   // full ones, which are shared
    int32_t pinning = 0;  // of them, that no table holds: pinning makes them unavailable
  };

  // With `keep` unset, nothing stays that no table holds.
  explicit PrefixCache(Decoder& decoder, bool keep = true);
  ~PrefixCache();

  // Tables share blocks only within their `scope`.
  Prefix Find(uint64_t scope, std::span<const int32_t> tokens) const;

  // Gives the empty `table` the longest cached prefix of `tokens`. Throws what Decoder::CopyBlock
  // throws; the table is valid then too.
  void Match(BlockTable& table, std::span<const int32_t> tokens);

  // Makes room for positions 0 … positions - 1; false, and nothing changed, where memory is short.
  bool Reserve(BlockTable& table, int32_t positions);

  // `tokens`: the table's whole history, all of it computed by now. Blocks that another sequence
  // made with the same history take the place of the table's own.
  void Commit(BlockTable& table, std::span<const int32_t> tokens);

  // Unpins the nodes, frees own blocks; the table is empty afterwards.
  void Release(BlockTable& table);

  // Forgets everything. No table may hold anything.
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
