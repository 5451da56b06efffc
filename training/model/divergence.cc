#include "training/model/divergence.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "lm/weights/weight_source.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

constexpr int64_t kPiece = 1 << 16;  // bytes that one thread counts in one piece

bool HasOwnCount(const at::Tensor& values) {
  const at::ScalarType type = values.scalar_type();
  return HasOwnLoops(values) && values.is_contiguous() &&
         (type == at::kFloat || type == at::kBFloat16);
}

}  // namespace

int64_t CountNotFinite(const at::Tensor& values) {
  if (!HasOwnCount(values)) return values.numel() - values.isfinite().sum().item<int64_t>();
  const WeightType type = values.scalar_type() == at::kFloat ? WeightType::kF32 : WeightType::kBF16;
  const auto* data = static_cast<const std::byte*>(values.data_ptr());
  const auto bytes = static_cast<int64_t>(values.nbytes());
  std::atomic<int64_t> count = 0;
  at::parallel_for(0, (bytes + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kPiece, last = std::min(bytes, end * kPiece);
    count += CountNotFinite(type, {data + first, static_cast<size_t>(last - first)});
  });
  return count;
}

std::string DescribeNotFinite(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) {
    const int64_t count = CountNotFinite(p.value);
    if (count == 0) continue;
    if (!text.empty()) return text + ", like some of others";
    text = fmt::format("{} of the {} values of {} are not finite", count, p.value.numel(), p.name);
  }
  return text;
}

void EndDiverged(const std::string& what, std::string_view rate) {
  throw DivergedError(
      ExitCode::kIncomplete,
      fmt::format("the training has diverged: {}. Nothing was saved or exported since then. Usual "
                  "cure: a lower {}, with another --name",
                  what, rate));
}

void RequireFinite(const at::Tensor& values, std::string_view what, std::string_view rate) {
  const int64_t bad = CountNotFinite(values);
  if (bad == 0) return;
  EndDiverged(fmt::format("{} of the {} values of {} are not finite", bad, values.numel(), what),
              rate);
}

}  // namespace agentr
