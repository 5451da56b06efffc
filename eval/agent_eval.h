// The job of agent_eval: plays episodes according to the options, writes them and measures them.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "eval/evaluator.h"
#include "eval/task_selection.h"
#include "rollout/episode_player.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"
#include "store/store_options.h"

namespace agentr {

class OptionSet;

struct AgentEvalOptions {
  EnvironmentOptions environment;
  TaskSelection tasks;
  int attempts = 1;            // episodes of each task
  double success = 0;          // a reward of at least this is a success; 0: SuccessReward()
  int revision_window = 5;     // MetricOptions::revision_window
  std::string thoughts = "";   // file of RevisionSigns::thoughts; empty: none
  std::string revision_from;   // folder of an evaluation whose failed episodes are continued
  std::string cut = "seeded";  // how many of their turns are replayed (CutTrajectories)
  std::vector<std::string> compare = {};  // two folders to compare; then nothing is played
  std::vector<std::string> arms = {};     // NAME=DIR,DIR… to compare; then nothing is played
  std::string compare_json = "";          // file for the comparison, as JSON; empty: none
  std::string output_dir = "test_result";
  std::string model_type = "";  // empty: chosen by how the model runs
  StoreOptions store;           // a database instead of output_dir for the episodes
  ModelOptions model;
  PlayOptions play;
  ParallelismOptions parallelism;
};

void Declare(OptionSet& set, AgentEvalOptions& options);

// Plays the requested episodes that do not exist yet. Writes their files (with options.store: into
// the database), summary.json and summary.csv about all requested episodes that exist (the same
// bytes whether or not the run was interrupted), run.json and resolved.toml into
// `<output_dir>/<task>/<model_name>_<model_type>` (`…_revision_of_<folder>` for a revision test).
// An earlier summary of more episodes is renamed to summary.<episodes>_episodes. With
// options.compare or options.arms it compares such folders instead. Prints a table to stdout.
// Returns kIncomplete if a requested episode has no result, also while another run is still playing
// it. Throws FatalError.
ExitCode AgentEval(const AgentEvalOptions& options, const OptionSet& resolved,
                   Workbench& workbench);

}  // namespace agentr
