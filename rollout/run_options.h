// Options that several programs share, each declared once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/http/http_client.h"
#include "clients/openai/openai_model.h"
#include "common/secret.h"
#include "rollout/thinking.h"
#include "tasks/scripted_model.h"

namespace agentr {

class OptionSet;

// The kind of task and its environment servers.
struct EnvironmentOptions {
  std::string task = "webshop";              // TaskKind::name
  std::string style = "";                    // DeclareStyle
  std::string file = "";                     // DeclareTaskFile
  std::vector<Secret> env_server_base = {};  // base URLs; empty: an embedded server
  HttpOptions http = ManyConnections();

  // Allows as many connections as trees or episodes may need at once.
  static HttpOptions ManyConnections();
};

// Declares --task in the option group of this name.
void DeclareTask(OptionSet& set, EnvironmentOptions& options, const std::string& group);

// Declares --env_server_base, --env_timeout, ….
void Declare(OptionSet& set, EnvironmentOptions& options);

// The language model and where it runs.
struct ModelOptions {
  // planner (also if empty) | random | a named model (lm/named_model.h; apps/wiring.h puts its
  // place into `dir`) | the name of a model on a server; with `dir`, the name for its results
  std::string name = "";
  std::string dir = "";  // folder of a model that runs in this process
  OpenAiOptions openai = {};
  ScriptedOptions scripted = {};
};

void Declare(OptionSet& set, ModelOptions& options);

// True if the model is not a language model (tasks/scripted_model.h).
bool IsScripted(const ModelOptions& model);

// What a program says at its start if the model is scripted.
inline constexpr std::string_view kOtherPolicies =
    "this policy is scripted; language models: --model_name bundled (a small one that comes with "
    "the "
    "programs), --model_dir DIR, or --llm_base URL with --model_name";

// The sampling parameters, and how much of a conversation the model sees.
struct SamplingOptions {
  double temperature = 1.0;
  double top_p = 1.0;
  int max_new_tokens = 500;  // per response
  int max_context = 8192;    // tokens of prompt and response together
  double context_slack = 0;  // ContextLimit::slack
  uint64_t seed = 0;
  std::vector<std::string> stop = {};      // texts that end a response and are no part of it
  Thinking thinking = Thinking::kContent;  // what becomes of the model's thoughts
};

// The parameters of one request but for its task and seed.
SamplingParams ParamsOf(const SamplingOptions& options);

// Declares --temperature … --thinking in the present option group.
void DeclareSampling(OptionSet& set, SamplingOptions& options,
                     const std::string& temperature_help = "Sampling temperature",
                     double least_temperature = 0);

// The number of tasks in progress at once, and when to give up.
struct ParallelismOptions {
  int in_flight = 32;      // trees or episodes in progress at once
  int sessions = 0;        // environment sessions open at once; 0: the environment decides
  int max_tries = 3;       // attempts at a task before it counts as failed (TaskRun::TryAgain)
  int give_up_after = 20;  // failed tasks in a row after which the run ends
  int metrics_port = 0;    // serve GET /metrics there during the run; 0: nowhere
};

// Declares --trees_in_flight or --episodes_in_flight (`what`: "trees", "episodes") and the others.
// `former_max_tries`: the former name of --max_tries.
void DeclareParallelism(OptionSet& set, ParallelismOptions& options, const std::string& what,
                        const std::string& former_max_tries);

}  // namespace agentr
