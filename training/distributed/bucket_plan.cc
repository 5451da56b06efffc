#include "training/distributed/bucket_plan.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace agentr {
namespace {

constexpr int64_t kAlignment = 16;  // in values, so that spans begin at cache lines

}  // namespace

int StageOf(std::string_view name, int layers) {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = name.find(kLayers);
  if (at == std::string_view::npos) {
    return name.find("embed_tokens") != std::string_view::npos ? -1 : layers;
  }
  int layer = 0;
  std::from_chars(name.data() + at + kLayers.size(), name.data() + name.size(), layer);
  return layer;
}

std::vector<Bucket> PlanBuckets(const std::vector<Block>& blocks, int ranks, int64_t least) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t b) { return blocks[b].stage; });
  std::vector<Bucket> buckets;
  int64_t size = 0;
  const auto finish = [&] {
    const int64_t share = (size + ranks - 1) / ranks;
    buckets.back().span = (share + kAlignment - 1) / kAlignment * kAlignment;
  };
  for (const size_t b : order) {
    const int stage = blocks[b].stage;
    // A stage is never divided, because its gradients are completed together.
    if (buckets.empty() || (stage != buckets.back().last && (size >= least || stage < 0))) {
      if (!buckets.empty()) finish();
      buckets.push_back({{}, 0, stage, stage});
      size = 0;
    }
    buckets.back().blocks.push_back({b, size});
    buckets.back().last = stage;
    size += blocks[b].size;
  }
  if (!buckets.empty()) finish();
  return buckets;
}

}  // namespace agentr
