// Used if the build found no Java: starting Java reports the cure.
#include "common/error.h"
#include "servers/sciworld/java_simulator.h"
#include "servers/sciworld/jvm.h"

namespace agentr {

Jvm& StartJvm(const JvmOptions&) {
  throw FatalError(ExitCode::kFile,
                   "this program was built without Java, which SciWorld needs: run "
                   "scripts/setup.sh --sciworld, then configure and build again");
}

std::unique_ptr<SimulatorSource> StartScienceWorld(const JvmOptions& options) {
  StartJvm(options);
  return nullptr;
}

}  // namespace agentr
