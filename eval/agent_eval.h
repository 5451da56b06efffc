// The job of agent_eval: from options to episodes on disk and numbers about them.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "eval/evaluator.h"
#include "eval/task_selection.h"
#include "rollout/episode_player.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"

namespace agentr {

class OptionSet;

struct AgentEvalOptions {
  EnvironmentOptions environment;
  TaskSelection tasks;
  int attempts = 1;            // episodes of each task
  double success = 1.0;        // a reward of at least this is a success
  std::string revision_from;   // folder of an evaluation whose failed episodes are gone on from
  std::string cut = "seeded";  // of those: how many turns are replayed (CutTrajectories)
  std::vector<std::string> compare = {};  // two folders: nothing is played
  std::string compare_json = "";          // file for the comparison, as JSON; empty: none
  std::string output_dir = "test_result";
  std::string model_type = "";  // empty: how the model runs
  ModelOptions model;
  PlayOptions play;
  ParallelismOptions parallelism;
};

void Declare(OptionSet& set, AgentEvalOptions& options);

// Plays the episodes that are asked for and are not there yet, and writes into
// `<output_dir>/<task>/<model_name>_<model_type>` (`…_revision_of_<folder>` for a revision test)
// their files, summary.json and summary.csv about all of them that are there (the same bytes
// whether or not the run was interrupted), run.json and resolved.toml. A summary of more episodes
// that was there is renamed to summary.<episodes>_episodes. Or compares two such folders. Prints a
// table to stdout. kIncomplete where an episode that was asked for has no result, also where
// another run is still playing it. Throws FatalError.
ExitCode AgentEval(const AgentEvalOptions& options, const OptionSet& resolved,
                   Workbench& workbench);

}  // namespace agentr
