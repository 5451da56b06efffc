// Batches made the plain way, from rows of tokens: as prefix trees by brute force, and side by
// side.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "common/random.h"
#include "training/data/batch.h"

namespace agentr {

struct TokenRow {
  std::vector<int32_t> tokens;
  std::vector<bool> trained;  // the first never is
};

namespace batches_internal {

struct Node {
  int32_t token = 0;
  std::vector<std::unique_ptr<Node>> children;  // in the order of the rows
  std::map<int32_t, float> targets;             // next token -> weight
};

inline void Emit(const Node& node, int32_t position, int32_t parent, Batch& batch) {
  // A new segment begins here: at a root, and behind a branch.
  const auto segment = static_cast<int32_t>(batch.segments.size());
  batch.segments.push_back({static_cast<int32_t>(batch.tokens.size()), 0, parent});
  const Node* at = &node;
  while (true) {
    const auto index = static_cast<int32_t>(batch.tokens.size());
    batch.tokens.push_back(at->token);
    batch.positions.push_back(position++);
    for (const auto& [token, weight] : at->targets) batch.targets.push_back({index, token, weight});
    if (at->children.size() != 1) break;
    at = at->children[0].get();
  }
  batch.segments[segment].end = static_cast<int32_t>(batch.tokens.size());
  for (const auto& child : at->children) Emit(*child, position, segment, batch);
}

}  // namespace batches_internal

// `share`: equal beginnings stand once. Otherwise the rows stand side by side.
inline Batch MakeBatch(const std::vector<TokenRow>& rows, bool share) {
  using batches_internal::Node;
  Node root;
  Batch batch;
  for (const TokenRow& row : rows) {
    Node* at = &root;
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      if (i > 0 && row.trained[i]) at->targets[row.tokens[i]] += 1;
      Node* next = nullptr;
      for (const auto& child : at->children) {
        if (share && child->token == row.tokens[i]) next = child.get();
      }
      if (next == nullptr || (!share && i == 0)) {
        at->children.push_back(std::make_unique<Node>());
        next = at->children.back().get();
        next->token = row.tokens[i];
      }
      at = next;
    }
    ++batch.rows;
    batch.row_tokens += static_cast<int64_t>(row.tokens.size());
  }
  for (const auto& child : root.children) batches_internal::Emit(*child, 0, -1, batch);
  return batch;
}

// Rows that begin alike and part several times, on trained tokens too: `groups` of `rows` rows of
// up to `length` tokens.
inline std::vector<TokenRow> RandomRows(int groups, int rows, int length, int vocabulary,
                                        uint64_t seed) {
  RandomStream stream(seed);
  std::vector<TokenRow> all;
  for (int g = 0; g < groups; ++g) {
    const size_t first = all.size();
    for (int r = 0; r < rows; ++r) {
      TokenRow row;
      if (r > 0) {  // goes on from the middle of an earlier row of the group
        row = all[first + stream.Below(r)];
        const size_t kept = 1 + stream.Below(row.tokens.size() - 1);
        row.tokens.resize(kept);
        row.trained.resize(kept);
      }
      const size_t least = row.tokens.size() + 2;
      const size_t end = least + stream.Below(std::max<size_t>(1, length - least + 1));
      while (row.tokens.size() < end) {
        row.tokens.push_back(static_cast<int32_t>(stream.Below(vocabulary)));
        row.trained.push_back(row.tokens.size() > 1 && stream.Chance(0.4));
      }
      all.push_back(std::move(row));
    }
  }
  return all;
}

}  // namespace agentr
