#include "eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.h"

namespace agentr {
namespace {

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The quantile of values in ascending order, interpolated linearly. `share`: in [0, 1].
double SortedQuantile(std::span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

// The means of the resamples.
std::vector<double> ResampledMeans(std::span<const double> values,
                                   const BootstrapOptions& options) {
  RandomStream stream = RandomStream(options.seed).Split("bootstrap");
  std::vector<double> means(static_cast<size_t>(std::max(options.resamples, 1)));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[stream.Below(values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  return means;
}

}  // namespace

Estimate IntervalOf(double mean, std::vector<double> drawn, size_t tasks) {
  std::ranges::sort(drawn);
  return {mean, SortedQuantile(drawn, 0.025), SortedQuantile(drawn, 0.975), tasks};
}

Estimate BootstrapMean(std::span<const double> values, const BootstrapOptions& options) {
  if (values.empty()) return {};
  return IntervalOf(Mean(values), ResampledMeans(values, options), values.size());
}

Estimate WidenedRate(Estimate rate) {
  constexpr double kSquare = 1.959964 * 1.959964;  // of the normal distribution's 97.5 % quantile
  const auto n = static_cast<double>(rate.tasks);
  if (rate.tasks > 0 && rate.mean == 0) rate.high = kSquare / (n + kSquare);
  if (rate.tasks > 0 && rate.mean == 1) rate.low = n / (n + kSquare);
  return rate;
}

Estimate BootstrapRate(std::span<const double> shares, const BootstrapOptions& options) {
  return WidenedRate(BootstrapMean(shares, options));
}

Estimate BootstrapRatio(std::span<const double> above, std::span<const double> below,
                        const BootstrapOptions& options) {
  const double whole = std::accumulate(below.begin(), below.end(), 0.0);
  if (whole <= 0) return {};
  RandomStream stream = RandomStream(options.seed).Split("bootstrap");
  std::vector<double> ratios;
  for (int resample = 0; resample < std::max(options.resamples, 1); ++resample) {
    double sum_above = 0, sum_below = 0;
    for (size_t i = 0; i < below.size(); ++i) {
      const uint64_t drawn = stream.Below(below.size());
      sum_above += above[drawn];
      sum_below += below[drawn];
    }
    if (sum_below > 0) ratios.push_back(sum_above / sum_below);
  }
  const double ratio = std::accumulate(above.begin(), above.end(), 0.0) / whole;
  if (ratios.empty()) ratios.push_back(ratio);
  return IntervalOf(ratio, std::move(ratios), below.size());
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
  return {IntervalOf(mean, means, differences.size()), std::max(share, least)};
}

}  // namespace agentr
