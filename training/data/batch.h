// A micro-batch for the network: flat, without padding, as a forest of token prefixes.
//
// Agent rows have equal beginnings. The rows of a micro-batch become prefix trees over token ids
// that contain each distinct token once. A segment is a run of tokens without a branch; it attends
// to the tokens of its path: those of its ancestors and, causally, its own. Without sharing, every
// row is one segment without a parent.
#pragma once

#include <cstdint>
#include <vector>

namespace agentr {

// Tokens begin … end - 1 of the batch. The token at `begin` follows the last token of the parent.
struct Segment {
  int32_t begin = 0;
  int32_t end = 0;
  int32_t parent = -1;  // index of an earlier segment; -1: a row begins here
};

// The kind of a trained token, for separate losses.
enum class TargetKind : uint8_t { kOther, kGood, kRevision, kCorrected };

// One term of the loss: -weight * ln p(token | the path up to and including `index`). A position
// before a branch has several targets; a token that several rows train has the sum of their
// weights.
struct Target {
  int32_t index = 0;  // index in the batch, not in the row
  int32_t token = 0;
  float weight = 0;  // sum of the weights of the rows that train it here
  TargetKind kind = TargetKind::kOther;
};

struct Batch {
  std::vector<int32_t> tokens;     // [n] ids
  std::vector<int32_t> positions;  // [n] within the row, from 0
  std::vector<Segment> segments;   // in order of begin; together they cover 0 … n - 1
  std::vector<Target> targets;     // sorted by index, token and kind; all are different
  int64_t rows = 0;
  int64_t row_tokens = 0;  // tokens of all rows, without sharing

  double weight() const {  // sum of the targets' weights
    double sum = 0;
    for (const Target& target : targets) sum += target.weight;
    return sum;
  }
};

}  // namespace agentr
