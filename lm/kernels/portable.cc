#include "lm/kernels/level.h"

#define AGENTR_SIMD
#define AGENTR_WIDTH 4
#define AGENTR_PANEL 8
#define AGENTR_BF16 0
#define AGENTR_DOT 0
#define AGENTR_TILES 0
namespace agentr::portable {
#include "lm/kernels/level_simd.h"
}  // namespace agentr::portable

namespace agentr {
const Kernels& PortableKernels() { return portable::kKernels; }
}  // namespace agentr
