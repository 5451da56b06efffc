// The simulator of scienceworld.jar (PyPI package scienceworld 1.2.3, class
// scienceworld.runtime.pythonapi.PythonInterface), run by the Java virtual machine in this process.
//
// The jar was written for one environment per process: all environments share one random stream and
// one counter that numbers objects, and both are reset with each loaded task. Here each simulator
// has its own, which replace the jar's (java/), so an episode does not depend on other sessions.
// The simulator's printed output is discarded.
#pragma once

#include <memory>

#include "servers/sciworld/jvm.h"
#include "servers/sciworld/simulator.h"

namespace agentr {

// Starts Java, which takes some seconds the first time. Throws FatalError(kFile) if Java is missing
// or the jar is not the simulator.
std::unique_ptr<SimulatorSource> StartScienceWorld(const JvmOptions& options);

}  // namespace agentr
