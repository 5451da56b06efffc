// Which keys the queries of a prefix tree see, in blocks that become dense matrix products.
//
// A segment's queries are multiplied with the keys of its ancestors and, causally, its own keys. No
// product includes keys of other branches, except that short siblings without children between
// them, such as the listed actions of a state, share one product in which each hides the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/data/batch.h"

namespace agentr {

// The keys that each query sees.
class AttentionPlan {
 public:
  // `queries`: increasing indices of the batch whose attention is wanted. `window`: number of
  // positions that a token sees, including its own; 0: all. The positions of a row increase by 1
  // from its first token.
  AttentionPlan(const Batch& batch, const std::vector<int32_t>& queries, int64_t window);

  struct Range {  // of the batch
    int64_t begin = 0, end = 0;
  };
  // Queries of one segment or of siblings, and the keys that at least one of them sees.
  struct Block {
    int64_t begin = 0, end = 0;     // in `queries`
    std::vector<Range> keys;        // along the path
    int64_t length = 0;             // number of all `keys`
    std::vector<int64_t> from, to;  // per query: it sees the keys from … to - 1 of `length`
    // Of siblings: except those from `fork`, where they begin, to the query's own segment.
    int64_t fork = 0;
    std::vector<int64_t> own;  // per query: the first key of its segment; empty: one segment
  };
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  void AddSegment(const Batch& batch, const std::vector<Range>& path, int64_t first, int64_t last,
                  const std::vector<int32_t>& queries, int64_t window);
  void AddSiblings(const Batch& batch, size_t segment, int64_t first, int64_t last,
                   const std::vector<int32_t>& queries);

  std::vector<Block> blocks_;
};

}  // namespace agentr
