#include "common/simd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "common/error.h"
#include "common/machine_limits.h"
#include "common/options.h"
#include "common/text.h"

namespace agentr {
namespace {

#if defined(__x86_64__)
// Clang's __builtin_cpu_supports does not know it.
bool HasF16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// Linux lets a process use tiles only if it asks, since they make the state of its threads larger.
bool HasTiles() {
  constexpr unsigned kTilesAndTheirProducts = 1u << 22 | 1u << 24 | 1u << 25;
  constexpr int kRequestState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (d & kTilesAndTheirProducts) == kTilesAndTheirProducts &&
         ::syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}
#endif

std::vector<Simd> DetectSimd() {
  std::vector<Simd> available = {Simd::kPortable};
#if defined(__aarch64__)
  available.push_back(Simd::kNeon);
#elif defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !HasF16c()) {
    return available;
  }
  available.push_back(Simd::kAvx2);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return available;
  }
  available.push_back(Simd::kAvx512);
  if (!__builtin_cpu_supports("avx512bf16")) return available;
  available.push_back(Simd::kAvx512Bf16);
  if (__builtin_cpu_supports("avx512vnni") && HasTiles()) available.push_back(Simd::kAmx);
#endif
  return available;
}

// The level of this name; `option` is where the name was given.
Simd LevelOf(const std::string& name, std::string_view option) {
  const auto level = ValueOf(kSimdNames, name);
  if (level && std::ranges::find(AvailableSimd(), *level) != AvailableSimd().end()) return *level;
  std::vector<std::string_view> names = {"auto"};
  for (const Simd simd : AvailableSimd()) names.push_back(Name(simd));
  throw FatalError(ExitCode::kUsage, fmt::format("{} {}: this processor has {}", option, name,
                                                 fmt::join(names, ", ")));
}

Simd DefaultLevel() {
  const char* lowered = std::getenv("AGENTR_SIMD");
  if (lowered == nullptr || *lowered == '\0') return AvailableSimd().back();
  return LevelOf(lowered, "AGENTR_SIMD");
}

constexpr int kNotSet = -1;
std::atomic<int> level_set = kNotSet;

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos) {
      return std::string(Trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return "a processor without a name";  // on aarch64 the kernel gives none
}

}  // namespace

const std::vector<Simd>& AvailableSimd() {
  static const std::vector<Simd> available = DetectSimd();
  return available;
}

void Declare(OptionSet& set, SimdOptions& options) {
  std::vector<std::string> names = {"auto"};
  for (const auto& [name, level] : kSimdNames) names.emplace_back(name);
  set.Group("Processor");
  set.Add("--simd", options.level,
          "Instruction set of inner loops; auto: that of AGENTR_SIMD, else the fastest")
      .OneOf(names);
}

// Loops ask for each row, so the answer is a load.
Simd ActiveSimd() {
  const int level = level_set.load(std::memory_order_relaxed);
  if (level != kNotSet) return static_cast<Simd>(level);
  SetSimd("auto");
  return ActiveSimd();
}

void SetSimd(const std::string& name) {
  level_set = static_cast<int>(name == "auto" ? DefaultLevel() : LevelOf(name, "--simd"));
}

std::string DescribeProcessor() {
  return fmt::format("{} ({}, {} cores)", Name(ActiveSimd()), ProcessorName(), UsableCores());
}

}  // namespace agentr
