// Options that several programs share, each declared once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/http/http_client.h"
#include "clients/openai/openai_model.h"
#include "tasks/scripted_model.h"

namespace agentr {

class OptionSet;

// Which kind of task, and where its environment is.
struct EnvironmentOptions {
  std::string task = "webshop";
  std::vector<std::string> env_server_base = {};  // base URLs; empty: an embedded server
  HttpOptions http = ManyConnections();

  // As many connections as trees or episodes may want at once.
  static HttpOptions ManyConnections();
};

// --task, in the group that is open.
void DeclareTask(OptionSet& set, EnvironmentOptions& options);

// --env_server_base, --env_timeout, ….
void Declare(OptionSet& set, EnvironmentOptions& options);

// Which language model, and where it runs.
struct ModelOptions {
  // planner (also where it is empty) | random | bundled (apps/wiring.h puts its folder into `dir`) |
  // the name of a model on a server; with `dir`, how its results are called
  std::string name = "";
  std::string dir = "";  // folder of a model to run in this process
  OpenAiOptions openai = {};
  ScriptedOptions scripted = {};
};

void Declare(OptionSet& set, ModelOptions& options);

// True where the model is no language model (tasks/scripted_model.h).
bool IsScripted(const ModelOptions& model);

// What a program says at its start where the model is scripted.
inline constexpr std::string_view kOtherPolicies =
    "this policy is scripted; language models: --model_name bundled (a small one that comes with "
    "the "
    "programs), --model_dir DIR, or --llm_base URL with --model_name";

// How the model is sampled, and how much of a conversation it is shown.
struct SamplingOptions {
  double temperature = 1.0;
  double top_p = 1.0;
  int max_new_tokens = 500;  // per response
  int max_context = 8192;    // tokens of prompt and response together
  uint64_t seed = 0;
};

// --temperature …, --seed, in the group that is open.
void DeclareSampling(OptionSet& set, SamplingOptions& options,
                     const std::string& temperature_help = "Sampling temperature",
                     double least_temperature = 0);

// How many tasks at once, and when to give up.
struct ParallelismOptions {
  int in_flight = 32;      // trees or episodes under way at once
  int sessions = 256;      // environment sessions open at once, where the server cannot fork
  int max_tries = 3;       // times a task is begun before it counts as failed (TaskRun::TryAgain)
  int give_up_after = 20;  // tasks failed in a row before the run ends
};

// --trees_in_flight or --episodes_in_flight (`what`: "trees", "episodes") and the others.
// `former_max_tries`: what --max_tries was called.
void DeclareParallelism(OptionSet& set, ParallelismOptions& options, const std::string& what,
                        const std::string& former_max_tries);

}  // namespace agentr
