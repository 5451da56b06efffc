// Replaces nccl_collectives.cc if LibTorch has no NCCL, or NCCL's headers are missing.
#include "training/distributed/collectives.h"

namespace agentr {

std::unique_ptr<Collectives> MakeNcclCollectives(const Place& /*place*/, int /*timeout_s*/) {
  return nullptr;
}

}  // namespace agentr
