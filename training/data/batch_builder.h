// Makes batches from rows: prefix trees, micro-batches, and the division among ranks.
//
// Rows are sorted by their token ids, so that rows with equal beginnings are neighbours, and each
// new row adds only the tokens that it does not share with the previous one. Micro-batches and the
// parts of ranks are consecutive ranges of that order, divided where least is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "training/data/batch.h"
#include "training/data/training_row.h"

namespace agentr {

std::vector<const TrainingRow*> PointersTo(std::span<const TrainingRow> rows);

// Makes the batch of `rows`, in any order. Without sharing each row is a separate segment. Targets
// with equal index, token and kind are merged, and their weights summed.
Batch BuildBatch(std::span<const TrainingRow* const> rows, bool share_prefixes);

// A batch that remembers which targets belong to which row, for losses that depend on the
// probabilities of whole responses.
struct RowBatch {
  Batch batch;
  // By row, in the order given to BuildRowBatch: for each trained token its index in batch.targets.
  // Rows with equal prefixes have targets in common.
  std::vector<std::vector<int32_t>> targets;
};
RowBatch BuildRowBatch(std::span<const TrainingRow* const> rows, bool share_prefixes);

// The cost of computing a batch, estimated in advance.
struct BatchCost {
  int64_t tokens = 0;  // distinct
  int64_t pairs = 0;   // of attention: each token with the tokens of its path, including itself
};
BatchCost CostOf(const Batch& batch);

// The cost of one attention pair relative to one token in the linear layers: roughly
// 2 * head_dim * heads * layers / parameters. The default is for a model of 8 billion parameters.
inline constexpr double kPairCost = 1.0 / 30000;

inline double Total(const BatchCost& cost, double pair_cost = kPairCost) {
  return static_cast<double>(cost.tokens) + pair_cost * static_cast<double>(cost.pairs);
}

// Sorts by ids, so that rows with equal beginnings become neighbours.
void SortForSharing(std::vector<const TrainingRow*>& rows);

// Divides sorted rows into `parts` ranges (fewer if there are fewer rows) so that the most
// expensive one is as cheap as possible. Returns `parts` + 1 borders, from 0 to the number of rows;
// ranges may be empty.
std::vector<size_t> SplitByCost(std::span<const TrainingRow* const> rows, size_t parts,
                                bool share_prefixes, double pair_cost = kPairCost);

// Divides sorted rows into ranges of at most `batch_tokens` distinct tokens, with the smallest
// total number of tokens and, among those, the fewest ranges. A longer row is a range by itself.
// Returns borders as above.
std::vector<size_t> SplitByTokens(std::span<const TrainingRow* const> rows, int64_t batch_tokens,
                                  bool share_prefixes);

}  // namespace agentr
