// The job of path_collect: from options to files of training data and a table.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "revision/revise.h"
#include "revision/revise_options.h"
#include "revision/tree_input.h"
#include "rollout/run_options.h"
#include "rollout/workbench.h"

namespace agentr {

class OptionSet;

struct PathCollectOptions {
  TreeInputOptions input;
  std::string output_dir = "path_result";
  std::vector<std::string> format = {"agent-r", "messages"};
  std::string dedup = "near";
  ReviseOptions revise;
  std::string replay = "auto";     // 1 | auto | 0: see --help
  EnvironmentOptions environment;  // its task is that of the trees
  int sessions = 64;               // open at once, on servers without /expand
  // The model: the verifier actor, and the tokens of rows.
  std::string model_dir = "";  // folder of a model to run in this process
  OpenAiOptions openai;        // of the actor, where it is on a server
  int tasks_in_flight = 0;     // 0: as many as suits
  int give_up_after = PipelineOptions{}.give_up_after;
  int show = 0;            // rows to print
  bool overwrite = false;  // take the place of more or better checked rows too
  std::string audit = "";  // a file of rows to audit instead
};

void Declare(OptionSet& set, PathCollectOptions& options);

// Writes `<output_dir>/<task>_<data_type>…`: rows in each format, .run.json and .toml (the options;
// give it to --config). Rows that are there stay, and the run ends with kUsage, where it made fewer
// or worse checked ones (standing_rows.h) and `overwrite` is not set. Prints the table to stdout.
// Throws FatalError.
ExitCode PathCollect(const PathCollectOptions& options, const OptionSet& resolved,
                     Workbench& workbench);

}  // namespace agentr
