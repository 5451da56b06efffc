// Two evaluations on disk, compared (`agent_eval --compare A B`).
#pragma once

#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

// Prints what the two folders were played with differently and the comparison, to stdout. Throws
// FatalError: kUsage where there are not two folders, kFile as ReadEpisodes.
ExitCode CompareRuns(const std::vector<std::string>& folders, double success);

}  // namespace agentr
