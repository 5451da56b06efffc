#include "lm/kernels/level.h"

#if defined(__x86_64__)
#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c")))
#define AGENTR_WIDTH 8
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 0
namespace agentr::avx2 {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx2

#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c,avxvnni")))
#define AGENTR_WIDTH 8
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 1
namespace agentr::avx2vnni {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx2vnni

namespace agentr {
const Kernels& Avx2Kernels() {
  return __builtin_cpu_supports("avxvnni") ? avx2vnni::kKernels : avx2::kKernels;
}
}  // namespace agentr
#endif
