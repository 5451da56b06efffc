#include "training/model/attention_plan.h"

#include <algorithm>
#include <utility>

namespace agentr {
namespace {

// Queries per block: enough for fast products, but few enough that little is computed for masked
// pairs and the scores stay in the cache.
constexpr int64_t kBlockQueries = 128;

// The ranges from the root to `segment`, with adjacent ones joined.
std::vector<AttentionPlan::Range> PathTo(const Batch& batch, int32_t segment) {
  std::vector<AttentionPlan::Range> path;
  for (int32_t s = segment; s >= 0; s = batch.segments[s].parent) {
    const Segment& part = batch.segments[s];
    if (!path.empty() && path.back().begin == part.end) {
      path.back().begin = part.begin;
    } else {
      path.push_back({part.begin, part.end});
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The last of the short siblings that begin with `segment` and have no children between them; it is
// `segment` if the next segment is none.
size_t LastSibling(const Batch& batch, size_t segment) {
  const Segment& first = batch.segments[segment];
  size_t last = segment;
  while (first.parent >= 0 && last + 1 < batch.segments.size()) {
    const Segment& next = batch.segments[last + 1];
    if (next.parent != first.parent || next.end - first.begin > kBlockQueries) break;
    ++last;
  }
  return last;
}

// The part of `path` between its tokens `from` and `to`.
std::vector<AttentionPlan::Range> Cut(const std::vector<AttentionPlan::Range>& path, int64_t from,
                                      int64_t to) {
  std::vector<AttentionPlan::Range> kept;
  int64_t at = 0;  // tokens of the path before the range
  for (const AttentionPlan::Range& range : path) {
    const int64_t begin = std::max(range.begin, range.begin + from - at);
    const int64_t end = std::min(range.end, range.begin + to - at);
    if (begin < end) kept.push_back({begin, end});
    at += range.end - range.begin;
  }
  return kept;
}

}  // namespace

AttentionPlan::AttentionPlan(const Batch& batch, const std::vector<int32_t>& queries,
                             int64_t window) {
  const auto count = static_cast<int64_t>(queries.size());
  int64_t next = 0;
  for (size_t s = 0; s < batch.segments.size(); ++s) {
    const int64_t first = next;
    const size_t last = window > 0 ? s : LastSibling(batch, s);
    while (next < count && queries[next] < batch.segments[last].end) ++next;
    if (first < next && last > s) AddSiblings(batch, s, first, next, queries);
    if (first < next && last == s) {
      AddSegment(batch, PathTo(batch, static_cast<int32_t>(s)), first, next, queries, window);
    }
    s = last;
  }
}

void AttentionPlan::AddSiblings(const Batch& batch, size_t segment, int64_t first, int64_t last,
                                const std::vector<int32_t>& queries) {
  const int64_t begin = batch.segments[segment].begin;  // of the siblings, in the batch
  Block block;
  block.begin = first;
  block.end = last;
  block.keys = PathTo(batch, batch.segments[segment].parent);
  for (const Range& range : block.keys) block.fork += range.end - range.begin;
  const int64_t end = queries[last - 1] + 1;
  block.length = block.fork + end - begin;
  if (block.keys.back().end == begin) {
    block.keys.back().end = end;
  } else {
    block.keys.push_back({begin, end});
  }
  for (int64_t q = first; q < last; ++q) {
    while (queries[q] >= batch.segments[segment].end) ++segment;
    block.from.push_back(0);
    block.to.push_back(block.fork + queries[q] - begin + 1);
    block.own.push_back(block.fork + batch.segments[segment].begin - begin);
  }
  blocks_.push_back(std::move(block));
}

void AttentionPlan::AddSegment(const Batch& batch, const std::vector<Range>& path, int64_t first,
                               int64_t last, const std::vector<int32_t>& queries, int64_t window) {
  // The positions of a path increase by 1: key j of the path has position `root` + j.
  const int64_t root = batch.positions[path.front().begin];
  for (int64_t begin = first; begin < last; begin += kBlockQueries) {
    Block block;
    block.begin = begin;
    block.end = std::min(begin + kBlockQueries, last);
    const auto sees = [&](int64_t query) { return batch.positions[queries[query]] - root + 1; };
    const auto from = [&](int64_t query) {
      return window > 0 ? std::max<int64_t>(0, sees(query) - window) : 0;
    };
    const int64_t least = from(block.begin);
    block.length = sees(block.end - 1) - least;
    block.keys = Cut(path, least, least + block.length);
    for (int64_t q = block.begin; q < block.end; ++q) {
      block.from.push_back(from(q) - least);
      block.to.push_back(sees(q) - least);
    }
    blocks_.push_back(std::move(block));
  }
}

}  // namespace agentr
