// The order in which rows are trained: a pure function of the seed and the number of the step.
//
// Files without weights form one pool, of which every row is drawn once per epoch. With weights
// each file is a separate pool, and after any number of steps its share of the rows is weight /
// (sum of weights), to within one row: each row comes from the pool that is furthest behind its
// share. An epoch has as many rows as all files together; an exhausted pool starts again in another
// order.
//
// The order of a pool in its n-th round: its groups (rows of one task, in the order of the files)
// are shuffled by RandomStream(seed).Split("row order").Split(pool).Split(n) and concatenated. An
// optimiser step takes the next batch_rows rows; the last step of an epoch may have fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace agentr {

// A row of the data: the number of its file in --data, and its number in the file.
struct RowId {
  uint32_t file = 0;
  uint32_t row = 0;

  bool operator==(const RowId&) const = default;
};

// A pool: the rows of a task are consecutive, in the order in which the tasks first appear.
struct RowPool {
  std::vector<RowId> rows;
  std::vector<size_t> group_begins;  // the beginning of each task in `rows`
  double weight = 1;
};

// Not thread-safe. Stores the order of one round of each pool: 8 bytes per row.
class RowOrder {
 public:
  RowOrder(std::vector<RowPool> pools, int batch_rows, uint64_t seed);

  int64_t rows() const { return rows_; }  // of an epoch
  int64_t steps_per_epoch() const;

  // The rows of step number `step` >= 0, counted from the beginning of the training. The rows do
  // not depend on the order of calls; increasing steps are fastest.
  std::vector<RowId> Step(int64_t step);

 private:
  struct Round {
    int64_t number = -1;
    std::vector<RowId> rows;
  };

  void Rewind();
  int64_t RowsOf(int64_t step) const;
  size_t NextPool() const;
  RowId Row(size_t pool, int64_t position);

  std::vector<RowPool> pools_;
  std::vector<Round> rounds_;   // one per pool
  std::vector<int64_t> drawn_;  // rows drawn per pool before step `step_`
  int64_t total_ = 0;           // the sum of drawn_
  int64_t step_ = 0;
  int64_t rows_ = 0;
  double weights_ = 0;
  int batch_rows_;
  uint64_t seed_;
};

}  // namespace agentr
