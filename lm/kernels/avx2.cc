#include "lm/kernels/level.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c")))
#define AGENTR_WIDTH 8
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 0
#define AGENTR_TILES 0
namespace agentr::avx2 {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx2

#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c,avxvnni")))
#define AGENTR_WIDTH 8
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 1
#define AGENTR_TILES 0
namespace agentr::avx2vnni {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx2vnni

namespace agentr {
namespace {

// Clang's __builtin_cpu_supports does not know it.
bool HasAvxVnni() {
  constexpr unsigned kBit = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kBit) != 0;
}

}  // namespace

const Kernels& Avx2Kernels() { return HasAvxVnni() ? avx2vnni::kKernels : avx2::kKernels; }
}  // namespace agentr
#endif
