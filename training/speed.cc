#include "training/speed.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <fstream>
#include <string>

#include "common/clock.h"
#include "common/progress.h"
#include "training/model/matrix_product.h"

namespace agentr {
namespace {

// The value of a line "NAME: 123 kB" in /proc/self/status, in GiB; 0 if there is none.
double StatusGib(const std::string& name) {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / (1 << 20);
  }
  return 0;
}

}  // namespace

double MeasureMatmulLimit(const NetworkOptions& options, const ModelConfig& config) {
  constexpr int64_t kRows = 1024;
  const auto like = at::device(options.device).dtype(options.type);
  const at::Tensor x = at::ones({kRows, config.hidden_size}, like);
  const at::Tensor w = at::ones({config.intermediate_size, config.hidden_size}, like);
  const double flops = 2.0 * kRows * static_cast<double>(w.numel());
  double fastest = 0, spent = 0;
  for (int i = 0; i < 20 && (i < 3 || spent < 0.3); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    Multiply(x, w.t())[0][0].item();  // waits for a GPU
    const double s = SecondsSince(begin);
    spent += s;
    fastest = std::max(fastest, flops / s);
  }
  return fastest;
}

void KeepFreedMemory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  ::mallopt(M_TOP_PAD, 64 << 20);
#endif
}

std::string StepForecast(double step_s, int64_t steps_to_go) {
  constexpr double kLong = 10;
  if (step_s < kLong) return "";
  return fmt::format("a step takes about {}, the {} steps to go about {}", FormatDuration(step_s),
                     steps_to_go, FormatDuration(step_s * static_cast<double>(steps_to_go)));
}

double MemoryGib() { return StatusGib("VmRSS"); }
double PeakMemoryGib() { return StatusGib("VmHWM"); }

}  // namespace agentr
