#include "lm/decoder/cpu_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lm/weights/half.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// cpu_kernels_simd.h is compiled once per instruction set. Each function has the attribute, instead
// of a flag for the whole file, so that no inline function of a library is compiled with
// instructions that another machine does not have.

#define AGENTR_SIMD
#define AGENTR_SIMD_LEVEL 0
namespace agentr::portable {
#include "lm/decoder/cpu_kernels_simd.h"
}  // namespace agentr::portable
#undef AGENTR_SIMD
#undef AGENTR_SIMD_LEVEL

#if defined(__x86_64__)
#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c")))
#define AGENTR_SIMD_LEVEL 1
namespace agentr::avx2 {
#include "lm/decoder/cpu_kernels_simd.h"
}  // namespace agentr::avx2
#undef AGENTR_SIMD
#undef AGENTR_SIMD_LEVEL

#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#define AGENTR_SIMD_LEVEL 2
namespace agentr::avx512 {
#include "lm/decoder/cpu_kernels_simd.h"
}  // namespace agentr::avx512
#undef AGENTR_SIMD
#undef AGENTR_SIMD_LEVEL

#define AGENTR_SIMD \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define AGENTR_SIMD_LEVEL 3
namespace agentr::avx512bf16 {
#include "lm/decoder/cpu_kernels_simd.h"
}  // namespace agentr::avx512bf16
#undef AGENTR_SIMD
#undef AGENTR_SIMD_LEVEL
#endif

namespace agentr {

std::vector<Simd> AvailableSimd() {
  std::vector<Simd> available = {Simd::kPortable};
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c")) {
    return available;
  }
  available.push_back(Simd::kAvx2);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return available;
  }
  available.push_back(Simd::kAvx512);
  if (__builtin_cpu_supports("avx512bf16")) available.push_back(Simd::kAvx512Bf16);
#endif
  return available;
}

const CpuKernels& KernelsOf(Simd simd) {
  switch (simd) {
#if defined(__x86_64__)
    case Simd::kAvx2:
      return avx2::kKernels;
    case Simd::kAvx512:
      return avx512::kKernels;
    case Simd::kAvx512Bf16:
      return avx512bf16::kKernels;
#endif
    default:
      return portable::kKernels;
  }
}

}  // namespace agentr
