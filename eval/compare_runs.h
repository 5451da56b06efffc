// Compares evaluations on disk: two (`agent_eval --compare A B`), or the arms of an experiment
// (`--arm`).
#pragma once

#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

// Prints the comparison, what follows slips (CompareSlips) and the differences between the options
// of the two folders to stdout. A folder may be above that of the episodes (FindEvaluation).
// `success`: a reward of at least this is a success; 0: the threshold of their task.
// `revision_window`: SlipMetricOptions::window; `revision_thoughts`: RevisionSigns::thoughts. Also
// writes the comparison to `json_file` if that is not empty. Throws FatalError: kUsage if there are
// not exactly two folders, kFile like ReadEpisodes or if the file cannot be written.
ExitCode CompareRuns(const std::vector<std::string>& folders, double success, int revision_window,
                     const std::vector<std::string>& revision_thoughts,
                     const std::string& json_file);

// Prints the comparison of arms, each NAME=DIR,DIR…, with the first one (compare_arms.h); a name
// that comes again is the arm in a further repetition of the experiment. The other parameters as
// above. Throws FatalError: kUsage for another form, different kinds of tasks or no common task,
// kFile as above.
ExitCode CompareArmRuns(const std::vector<std::string>& arms, double success, int revision_window,
                        const std::vector<std::string>& revision_thoughts,
                        const std::string& json_file);

}  // namespace agentr
