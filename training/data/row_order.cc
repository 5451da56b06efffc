#include "training/data/row_order.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "common/random.h"

namespace agentr {
namespace {

std::vector<RowId> ShuffleGroups(const RowPool& pool, RandomStream random) {
  std::vector<size_t> groups(pool.group_begins.size());
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = i;
  random.Shuffle(groups);
  std::vector<RowId> rows;
  rows.reserve(pool.rows.size());
  for (const size_t group : groups) {
    const size_t begin = pool.group_begins[group];
    const size_t end = group + 1 < groups.size() ? pool.group_begins[group + 1] : pool.rows.size();
    rows.insert(rows.end(), pool.rows.begin() + static_cast<std::ptrdiff_t>(begin),
                pool.rows.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return rows;
}

}  // namespace

RowOrder::RowOrder(std::vector<RowPool> pools, int batch_rows, uint64_t seed)
    : pools_(std::move(pools)), rounds_(pools_.size()), batch_rows_(batch_rows), seed_(seed) {
  for (const RowPool& pool : pools_) {
    assert(!pool.rows.empty() && pool.weight > 0);
    rows_ += static_cast<int64_t>(pool.rows.size());
    weights_ += pool.weight;
  }
  Rewind();
}

int64_t RowOrder::steps_per_epoch() const { return (rows_ + batch_rows_ - 1) / batch_rows_; }

void RowOrder::Rewind() {
  drawn_.assign(pools_.size(), 0);
  total_ = 0;
  step_ = 0;
}

int64_t RowOrder::RowsOf(int64_t step) const {
  return std::min<int64_t>(batch_rows_, rows_ - step % steps_per_epoch() * batch_rows_);
}

size_t RowOrder::NextPool() const {
  size_t next = 0;
  double most = 0;
  for (size_t i = 0; i < pools_.size(); ++i) {
    const double share = pools_[i].weight / weights_;
    const double behind = share * static_cast<double>(total_ + 1) - static_cast<double>(drawn_[i]);
    if (i == 0 || behind > most) {
      next = i;
      most = behind;
    }
  }
  return next;
}

RowId RowOrder::Row(size_t pool, int64_t position) {
  const auto size = static_cast<int64_t>(pools_[pool].rows.size());
  Round& round = rounds_[pool];
  if (const int64_t number = position / size; round.number != number) {
    round.number = number;
    round.rows = ShuffleGroups(
        pools_[pool],
        RandomStream(seed_).Split("row order").Split(pool).Split(static_cast<uint64_t>(number)));
  }
  return round.rows[static_cast<size_t>(position % size)];
}

std::vector<RowId> RowOrder::Step(int64_t step) {
  if (step < step_) Rewind();
  // For steps that were already trained, only the number of draws per pool is needed.
  for (; step_ < step; ++step_) {
    for (int64_t i = RowsOf(step_); i > 0; --i, ++total_) ++drawn_[NextPool()];
  }
  std::vector<RowId> rows;
  for (int64_t i = RowsOf(step); i > 0; --i, ++total_) {
    const size_t pool = NextPool();
    rows.push_back(Row(pool, drawn_[pool]++));
  }
  ++step_;
  return rows;
}

}  // namespace agentr
