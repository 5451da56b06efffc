#include "lm/kernels/kernels.h"

namespace agentr {

const Kernels& PortableKernels();
const Kernels& NeonKernels();
const Kernels& Avx2Kernels();
const Kernels& Avx512Kernels();
const Kernels& Avx512Bf16Kernels();
const Kernels& AmxKernels();

const Kernels& KernelsOf(Simd simd) {
  switch (simd) {
#if defined(__x86_64__)
    case Simd::kAvx2:
      return Avx2Kernels();
    case Simd::kAvx512:
      return Avx512Kernels();
    case Simd::kAvx512Bf16:
      return Avx512Bf16Kernels();
    case Simd::kAmx:
      return AmxKernels();
#elif defined(__aarch64__)
    case Simd::kNeon:
      return NeonKernels();
#endif
    default:
      return PortableKernels();
  }
}

}  // namespace agentr
