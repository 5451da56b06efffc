#include "training/data/batch_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace agentr {
namespace {

using Rows = std::span<const TrainingRow* const>;

size_t SharedPrefix(const TrainingRow& a, const TrainingRow& b) {
  const auto [end, ignored] = std::ranges::mismatch(a.ids, b.ids);
  return static_cast<size_t>(end - a.ids.begin());
}

// The number of attention pairs of the new tokens first … last - 1 of a row.
int64_t Pairs(size_t first, size_t last) {
  const auto sum = [](size_t n) {
    return static_cast<int64_t>(n) * static_cast<int64_t>(n + 1) / 2;
  };
  return sum(last) - sum(first);
}

class Builder {
 public:
  explicit Builder(bool share) : share_(share) {}

  // Rows must be sorted if they share prefixes.
  void Add(const TrainingRow& row) {
    const size_t shared = share_ && last_ != nullptr ? SharedPrefix(*last_, row) : 0;
    path_.resize(shared);
    const auto begin = static_cast<int32_t>(batch_.tokens.size());
    for (size_t i = shared; i < row.ids.size(); ++i) {
      path_.push_back(static_cast<int32_t>(batch_.tokens.size()));
      batch_.tokens.push_back(row.ids[i]);
      batch_.positions.push_back(static_cast<int32_t>(i));
    }
    if (shared < row.ids.size()) Attach(begin, shared == 0 ? -1 : path_[shared - 1]);
    AddTargets(row);
    ++batch_.rows;
    batch_.row_tokens += static_cast<int64_t>(row.ids.size());
    last_ = &row;
  }

  Batch Finish() {
    MakeSegments();
    MergeTargets();
    return std::move(batch_);
  }

  // After Finish: for each trained token of all rows, in the order in which they were added, the
  // index of its target.
  std::span<const int32_t> merged() const { return merged_; }

 private:
  // A range of new tokens, beginning at `begin`, follows token `after` (-1: none).
  void Attach(int32_t begin, int32_t after) {
    if (after + 1 == begin && after >= 0) return;  // it continues where the last row ended
    cuts_.push_back({begin, after});
    // Other tokens that follow `after` become a separate segment.
    if (after >= 0) cuts_.push_back({after + 1, after});
  }

  void MakeSegments() {
    std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    const auto tokens = static_cast<int32_t>(batch_.tokens.size());
    for (size_t i = 0; i < cuts_.size(); ++i) {
      const int32_t end = i + 1 < cuts_.size() ? cuts_[i + 1].begin : tokens;
      batch_.segments.push_back({cuts_[i].begin, end, SegmentEndingAt(cuts_[i].after)});
    }
  }

  // A branch must be at the end of a segment, so the segment that contains the token is split after
  // it.
  int32_t SegmentEndingAt(int32_t token) const {
    if (token < 0) return -1;
    const auto next = std::ranges::upper_bound(batch_.segments, token, {}, &Segment::begin);
    return static_cast<int32_t>(next - batch_.segments.begin()) - 1;
  }

  void AddTargets(const TrainingRow& row) {
    for (const TrainedSpan& span : row.trained) {
      for (int32_t i = span.begin; i < span.end; ++i) {
        const auto at = static_cast<size_t>(i);
        batch_.targets.push_back({path_[at - 1], row.ids[at], row.weight, span.kind});
      }
    }
  }

  void MergeTargets() {
    const auto key = [](const Target& t) { return std::tuple(t.index, t.token, t.kind); };
    const std::vector<Target> all = std::move(batch_.targets);
    std::vector<int32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int32_t i) { return key(all[at(i)]); });
    std::vector<Target>& targets = batch_.targets;
    targets.clear();
    merged_.resize(all.size());
    for (const int32_t i : order) {
      const Target& target = all[at(i)];
      if (!targets.empty() && key(targets.back()) == key(target)) {
        targets.back().weight += target.weight;
      } else {
        targets.push_back(target);
      }
      merged_[at(i)] = static_cast<int32_t>(targets.size()) - 1;
    }
  }

  static size_t at(int32_t index) { return static_cast<size_t>(index); }

  // A segment begins at `begin` and follows token `after`.
  struct Cut {
    int32_t begin;
    int32_t after;
    auto operator<=>(const Cut&) const = default;
  };

  const bool share_;
  Batch batch_;
  const TrainingRow* last_ = nullptr;
  std::vector<int32_t> path_;    // index in the batch of each token of the last row
  std::vector<int32_t> merged_;  // see merged()
  std::vector<Cut> cuts_;
};

// The distinct tokens and attention pairs of ranges of sorted rows: those of each row minus those
// that it shares with the previous row, if that is in the range.
class StretchCosts {
 public:
  StretchCosts(Rows rows, bool share) : rows_(rows), shared_(rows.size()) {
    for (size_t i = 1; share && i < rows.size(); ++i) {
      shared_[i] = SharedPrefix(*rows[i - 1], *rows[i]);
    }
  }
  BatchCost Cost(size_t row, bool first) const {
    const size_t shared = first ? 0 : shared_[row], size = rows_[row]->ids.size();
    return {static_cast<int64_t>(size - shared), Pairs(shared, size)};
  }

 private:
  Rows rows_;
  std::vector<size_t> shared_;  // tokens in common with the previous row
};

// The borders of ranges that cost at most `most` each, filled from the left; empty if more than
// `parts` ranges would be needed.
std::vector<size_t> Fill(const StretchCosts& costs, size_t rows, size_t parts, double most,
                         double pair_cost) {
  std::vector<size_t> borders = {0};
  double sum = 0;
  for (size_t i = 0; i < rows; ++i) {
    double cost = Total(costs.Cost(i, i == borders.back()), pair_cost);
    if (i > borders.back() && sum + cost > most) {
      borders.push_back(i);
      sum = 0;
      cost = Total(costs.Cost(i, true), pair_cost);
    }
    if (cost > most) return {};
    sum += cost;
  }
  if (borders.size() > parts) return {};
  borders.resize(parts + 1, rows);
  return borders;
}

}  // namespace

std::vector<const TrainingRow*> PointersTo(std::span<const TrainingRow> rows) {
  std::vector<const TrainingRow*> pointers;
  for (const TrainingRow& row : rows) pointers.push_back(&row);
  return pointers;
}

Batch BuildBatch(std::span<const TrainingRow* const> rows, bool share_prefixes) {
  return BuildRowBatch(rows, share_prefixes).batch;
}

RowBatch BuildRowBatch(std::span<const TrainingRow* const> rows, bool share_prefixes) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (share_prefixes) {
    std::ranges::stable_sort(
        order, {}, [&](size_t row) -> auto& { return rows[row]->ids; });
  }
  Builder builder(share_prefixes);
  for (const size_t row : order) builder.Add(*rows[row]);
  RowBatch result{builder.Finish(), std::vector<std::vector<int32_t>>(rows.size())};
  std::span<const int32_t> merged = builder.merged();
  for (const size_t row : order) {
    const auto own = merged.first(static_cast<size_t>(rows[row]->trained_tokens()));
    result.targets[row].assign(own.begin(), own.end());
    merged = merged.subspan(own.size());
  }
  return result;
}

BatchCost CostOf(const Batch& batch) {
  BatchCost cost{static_cast<int64_t>(batch.tokens.size()), 0};
  for (const int32_t position : batch.positions) cost.pairs += position + 1;
  return cost;
}

void SortForSharing(std::vector<const TrainingRow*>& rows) {
  std::ranges::stable_sort(rows, {}, &TrainingRow::ids);
}

std::vector<size_t> SplitByCost(std::span<const TrainingRow* const> rows, size_t parts,
                                bool share_prefixes, double pair_cost) {
  const StretchCosts costs(rows, share_prefixes);
  double high = 0, low = 0;
  for (size_t i = 0; i < rows.size(); ++i) high += Total(costs.Cost(i, true), pair_cost);
  std::vector<size_t> best = Fill(costs, rows.size(), parts, high, pair_cost);
  // Bisection on the cost of the most expensive range; a thousandth of a token is accurate enough.
  while (high - low > 1e-3 && high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    std::vector<size_t> borders = Fill(costs, rows.size(), parts, middle, pair_cost);
    if (borders.empty()) {
      low = middle;
    } else {
      high = middle;
      best = std::move(borders);
    }
  }
  return best;
}

std::vector<size_t> SplitByTokens(std::span<const TrainingRow* const> rows, int64_t batch_tokens,
                                  bool share_prefixes) {
  const StretchCosts costs(rows, share_prefixes);
  // By the number of rows: (tokens, stretches) of the best cut of the first so many, and where its
  // last stretch begins.
  using Best = std::pair<int64_t, int64_t>;
  std::vector<Best> best(rows.size() + 1, {std::numeric_limits<int64_t>::max(), 0});
  std::vector<size_t> from(rows.size() + 1, 0);
  best[0] = {0, 0};
  for (size_t begin = 0; begin < rows.size(); ++begin) {
    int64_t tokens = 0;
    for (size_t end = begin + 1; end <= rows.size(); ++end) {
      tokens += costs.Cost(end - 1, end - 1 == begin).tokens;
      if (tokens > batch_tokens && end > begin + 1) break;
      const Best candidate = {best[begin].first + tokens, best[begin].second + 1};
      if (candidate < best[end]) {
        best[end] = candidate;
        from[end] = begin;
      }
    }
  }
  std::vector<size_t> borders = {rows.size()};
  while (borders.back() > 0) borders.push_back(from[borders.back()]);
  std::ranges::reverse(borders);
  return borders;
}

}  // namespace agentr
