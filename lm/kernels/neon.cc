#include "lm/kernels/level.h"

#if defined(__aarch64__)
#include <sys/auxv.h>

#define AGENTR_SIMD __attribute__((target("arch=armv8-a")))
#define AGENTR_WIDTH 4
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 0
#define AGENTR_TILES 0
namespace agentr::neon {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::neon

#define AGENTR_SIMD __attribute__((target("arch=armv8.2-a+dotprod")))
#define AGENTR_WIDTH 4
#define AGENTR_PANEL 16
#define AGENTR_BF16 0
#define AGENTR_DOT 1
#define AGENTR_TILES 0
namespace agentr::neondot {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::neondot

#define AGENTR_SIMD __attribute__((target("arch=armv8.2-a+dotprod+bf16")))
#define AGENTR_WIDTH 4
#define AGENTR_PANEL 16
#define AGENTR_BF16 1
#define AGENTR_DOT 1
#define AGENTR_TILES 0
namespace agentr::neonbf16 {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::neonbf16

namespace agentr {
const Kernels& NeonKernels() {
  const bool dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  const bool bf16 = (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
  return dot && bf16 ? neonbf16::kKernels : dot ? neondot::kKernels : neon::kKernels;
}
}  // namespace agentr
#endif
