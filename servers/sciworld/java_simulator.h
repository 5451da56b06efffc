// The simulator of scienceworld.jar (PyPI package scienceworld 1.2.3, class
// scienceworld.runtime.pythonapi.PythonInterface), run by the Java machine of this process.
//
// The jar was written for one environment per process: its random stream, and the counter that
// numbers objects, are one for all, and start again with each task that is loaded. Here each
// simulator has its own, put in place of the jar's (java/): an episode is then the same whatever
// other sessions do at the same time. What the simulator prints is dropped.
#pragma once

#include <memory>

#include "servers/sciworld/jvm.h"
#include "servers/sciworld/simulator.h"

namespace agentr {

// Starts Java, which takes some seconds the first time. Throws FatalError: kFile without Java or
// where the jar is not the simulator.
std::unique_ptr<SimulatorSource> StartScienceWorld(const JvmOptions& options);

}  // namespace agentr
