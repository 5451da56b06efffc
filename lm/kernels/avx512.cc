#include "lm/kernels/level.h"

#if defined(__x86_64__)
#define AGENTR_SIMD __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#define AGENTR_WIDTH 16
#define AGENTR_PANEL 64
#define AGENTR_BF16 0
#define AGENTR_DOT 0
#define AGENTR_TILES 0
namespace agentr::avx512 {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx512

#define AGENTR_SIMD \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define AGENTR_WIDTH 16
#define AGENTR_PANEL 64
#define AGENTR_BF16 0
#define AGENTR_DOT 1
#define AGENTR_TILES 0
namespace agentr::avx512vnni {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx512vnni

#define AGENTR_SIMD                                                         \
  __attribute__((                                                           \
      target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni," \
             "avx512bf16")))
#define AGENTR_WIDTH 16
#define AGENTR_PANEL 64
#define AGENTR_BF16 1
#define AGENTR_DOT 1
#define AGENTR_TILES 0
namespace agentr::avx512bf16 {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::avx512bf16

#define AGENTR_SIMD                                                         \
  __attribute__((                                                           \
      target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni," \
             "avx512bf16,amx-tile,amx-int8,amx-bf16")))
#define AGENTR_WIDTH 16
#define AGENTR_PANEL 64
#define AGENTR_BF16 1
#define AGENTR_DOT 1
#define AGENTR_TILES 1
namespace agentr::amx {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::amx

namespace agentr {
const Kernels& Avx512Kernels() {
  return __builtin_cpu_supports("avx512vnni") ? avx512vnni::kKernels : avx512::kKernels;
}
const Kernels& Avx512Bf16Kernels() { return avx512bf16::kKernels; }
const Kernels& AmxKernels() { return amx::kKernels; }
}  // namespace agentr
#endif
