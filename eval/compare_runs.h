// Two evaluations on disk, compared (`agent_eval --compare A B`).
#pragma once

#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

// Prints the comparison and what the two folders were played with differently, to stdout; writes it
// to `json_file` too, if that is not empty. Throws FatalError: kUsage where there are not two
// folders, kFile as ReadEpisodes, and where the file cannot be written.
ExitCode CompareRuns(const std::vector<std::string>& folders, double success,
                     const std::string& json_file);

}  // namespace agentr
