// In place of gloo_group.cc where Gloo's headers are not installed.
#include "common/error.h"
#include "training/distributed/gloo_group.h"

namespace agentr {

std::unique_ptr<ProcessGroup> JoinGlooGroup(const Place& /*place*/,
                                            const GlooOptions& /*options*/) {
  throw FatalError(ExitCode::kUnavailable,
                   "this build can train in one process only: Gloo's headers were not there. Cure: "
                   "install libgloo-dev (scripts/setup.sh does) and build again");
}

}  // namespace agentr
