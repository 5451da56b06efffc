// The job of path_collect: from options to files of training data and a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "clients/http_client.h"
#include "clients/openai_model.h"
#include "common/error.h"
#include "revision/revise.h"
#include "revision/revise_options.h"
#include "revision/tree_input.h"

namespace agentr {

class OptionSet;

struct PathCollectOptions {
  TreeInputOptions input;
  std::string output_dir = "path_result";
  std::vector<std::string> format = {"agent-r", "messages"};
  std::string dedup = "near";
  ReviseOptions revise;
  std::string replay = "auto";  // 1: replay every row; 0: none; auto: where an environment answers
  std::vector<std::string> env_server_base;  // empty: the embedded server
  HttpOptions http;
  int sessions = 64;        // open at once, on servers without /expand
  OpenAiOptions openai;     // of the verifier actor
  int tasks_in_flight = 0;  // 0: as many as suits
  int give_up_after = PipelineOptions{}.give_up_after;
  int show = 0;  // rows to print
};

void Declare(OptionSet& set, PathCollectOptions& options);

// Starts the embedded server of a kind of task and returns its URL; may throw FatalError.
using StartServer = std::function<std::string(const std::string& task)>;

// Writes `<output_dir>/<task>_<data_type>…`: rows in each format, .run.json and .toml (the options;
// give it to --config). Prints the table to stdout. Throws FatalError.
ExitCode PathCollect(const PathCollectOptions& options, const OptionSet& resolved,
                     const StartServer& start_server);

}  // namespace agentr
