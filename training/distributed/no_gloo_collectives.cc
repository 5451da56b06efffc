// In place of gloo_collectives.cc where Gloo's headers are not there, or do not fit LibTorch.
#include "training/distributed/collectives.h"

namespace agentr {

std::unique_ptr<Collectives> MakeGlooCollectives(const Place& /*place*/, int /*timeout_s*/) {
  return nullptr;
}

}  // namespace agentr
