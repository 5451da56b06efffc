// Rows to batches: prefix trees, micro-batches, and the split over ranks.
//
// Rows are sorted by their token ids, so that rows that begin alike are neighbours, and each new
// row adds to the tree what it does not share with the one before it. Micro-batches and the parts
// of ranks are stretches of that order, cut where least is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "training/data/batch.h"
#include "training/data/training_row.h"

namespace agentr {

// The batch of `rows`, in any order. Without sharing the rows stand side by side. Targets that
// agree in index, token and kind are one, with the sum of their weights.
Batch BuildBatch(std::span<const TrainingRow* const> rows, bool share_prefixes);

// What a batch costs to compute, before any is.
struct BatchCost {
  int64_t tokens = 0;  // distinct
  int64_t pairs = 0;   // of attention: each token with the tokens of its path, itself included
};
BatchCost CostOf(const Batch& batch);

// Cost of one pair of attention in that of a token of the linear layers: head_dim * heads * layers
// * 2 over the parameters, roughly. The default is that of a model of 8 billion parameters.
inline constexpr double kPairCost = 1.0 / 30000;

inline double Total(const BatchCost& cost, double pair_cost = kPairCost) {
  return static_cast<double>(cost.tokens) + pair_cost * static_cast<double>(cost.pairs);
}

// Sorts by ids; rows that begin alike become neighbours.
void SortForSharing(std::vector<const TrainingRow*>& rows);

// Cuts sorted rows into `parts` stretches (fewer where there are fewer rows), the dearest of which
// is as cheap as can be. The answer has `parts` + 1 borders, from 0 to the number of rows;
// stretches may be empty.
std::vector<size_t> SplitByCost(std::span<const TrainingRow* const> rows, size_t parts,
                                bool share_prefixes, double pair_cost = kPairCost);

// Cuts sorted rows into stretches of at most `batch_tokens` distinct tokens that have as few tokens
// in all as can be, and among these as few stretches. A longer row stands alone. Borders as above.
std::vector<size_t> SplitByTokens(std::span<const TrainingRow* const> rows, int64_t batch_tokens,
                                  bool share_prefixes);

}  // namespace agentr
