#include "eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/random.h"

namespace agentr {
namespace {

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The means of the resamples, sorted.
std::vector<double> ResampledMeans(std::span<const double> values,
                                   const BootstrapOptions& options) {
  RandomStream stream = RandomStream(options.seed).Split("bootstrap");
  std::vector<double> means(static_cast<size_t>(std::max(options.resamples, 1)));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[stream.Below(values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  std::ranges::sort(means);
  return means;
}

Estimate EstimateOf(std::span<const double> values, std::span<const double> means) {
  return {Mean(values), SortedQuantile(means, 0.025), SortedQuantile(means, 0.975), values.size()};
}

}  // namespace

double SortedQuantile(std::span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

Estimate BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  if (values.empty()) return {};
  return EstimateOf(values, ResampledMeans(values, options));
}

Estimate BootstrapRate(std::span<const double> shares, const BootstrapOptions& options) {
  Estimate rate = BootstrapMean(shares, options);
  constexpr double kSquare = 1.959964 * 1.959964;  // of the normal distribution's 97.5 % quantile
  const auto n = static_cast<double>(rate.tasks);
  if (rate.tasks > 0 && rate.mean == 0) rate.high = kSquare / (n + kSquare);
  if (rate.tasks > 0 && rate.mean == 1) rate.low = n / (n + kSquare);
  return rate;
}

PairedDifference PairedBootstrap(std::span<const double> differences,
                                 const BootstrapOptions& options) {
  if (differences.empty()) return {};
  const std::vector<double> means = ResampledMeans(differences, options);
  const double mean = Mean(differences);
  // Centring shifts every resample's mean by the observed mean. The tolerance treats sums that
  // differ only by rounding as equal.
  const double far = std::abs(mean) * (1 - 1e-9);
  const auto hits =
      std::ranges::count_if(means, [&](double m) { return std::abs(m - mean) >= far; });
  const double share = static_cast<double>(1 + hits) / static_cast<double>(1 + means.size());
  const double least = std::exp2(1 - static_cast<double>(differences.size()));
  return {EstimateOf(differences, means), std::max(share, least)};
}

}  // namespace agentr
