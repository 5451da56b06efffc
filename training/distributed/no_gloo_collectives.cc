// Replaces gloo_collectives.cc if Gloo's headers are missing or do not fit LibTorch.
#include "training/distributed/collectives.h"

namespace agentr {

std::unique_ptr<Collectives> MakeGlooCollectives(const Place& /*place*/, int /*timeout_s*/) {
  return nullptr;
}

}  // namespace agentr
