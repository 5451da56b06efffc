#include "rollout/run_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/options.h"
#include "common/work_queue.h"
#include "tasks/task_kinds.h"

namespace agentr {

HttpOptions EnvironmentOptions::ManyConnections() {
  HttpOptions options;
  options.max_connections = 256;
  return options;
}

void DeclareTask(OptionSet& set, EnvironmentOptions& o, const std::string& group) {
  set.Group(group);
  set.Add("--task", o.task,
          "Kind of task: " + TaskNames() + ", or FILE.toml, which describes one of your own",
          "TASK");
  DeclareTaskFile(set, o.file, o.task, group);
  DeclareStyle(set, o.style, o.task, group);
}

void Declare(OptionSet& set, EnvironmentOptions& o) {
  set.Group("Environment");
  set.Add("--env_server_base", o.env_server_base,
          "Base URL of an AgentGym-compatible server (repeatable); default: an embedded server")
      .OnlySpeed();
  Declare(set, o.http, "env", "environment server");
}

void Declare(OptionSet& set, ModelOptions& o) {
  set.Group("Model");
  set.Add(
      "--model_name", o.name,
      "planner (the default) or random (scripted, no server), bundled (the small language model "
      "that comes with the programs), smollm2 (SmolLM2-135M-Instruct, 98 MB, Apache-2.0, after "
      "scripts/setup.sh --smollm2), the name of a model on --llm_base, or the name for "
      "results of --model_dir (default: the folder's name)",
      "MODEL_NAME");
  set.Add("--model_dir", o.dir,
          "Model that runs in this process: a Hugging Face folder, a GGUF file, the folder of an "
          "adapter of PEFT's, or bundled, smollm2 or gemma3 (scripts/setup.sh --smollm2, --gemma3)",
          "MODEL_DIR");
  Declare(set, o.scripted);
  Declare(set, o.openai);
}

bool IsScripted(const ModelOptions& model) {
  return model.dir.empty() && model.openai.base.empty();
}

void DeclareSampling(OptionSet& set, SamplingOptions& o, const std::string& temperature_help,
                     double least_temperature) {
  set.Add("--temperature", o.temperature, temperature_help, "TEMP").Min(least_temperature);
  set.Add("--top_p", o.top_p, "Nucleus sampling").Range(0, 1);
  set.Add("--max_new_tokens", o.max_new_tokens, "Tokens per response").Min(1);
  set.Add("--max_context", o.max_context,
          "Tokens of prompt and response together; the oldest turns are dropped to fit",
          "MAX_TOKEN_LENGTH")
      .Min(1);
  set.AfterParsing([&o] {
    if (std::ranges::count(o.stop, "") > 0) {
      throw FatalError(ExitCode::kUsage, "--stop is empty: give a text, or leave the option out");
    }
    if (o.max_new_tokens < o.max_context) return;
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--max_context {} leaves no room for a prompt beside "
                                 "--max_new_tokens {}; raise the first or lower the second",
                                 o.max_context, o.max_new_tokens));
  });
  set.Add("--seed", o.seed, "Seed of every random choice of the run");
  set.Add("--stop", o.stop,
          "Text at which a response ends, itself left out (repeatable); for prompts in the form of "
          "ReAct: Observation:")
      .Verbatim();
  set.Add("--context_slack", o.context_slack,
          "Share of the prompt's room that becomes free where turns are dropped: with 0.25 the "
          "prompts of the next few turns begin alike and come from the cache; with 0 as many turns "
          "as fit are shown, and each prompt of a long episode is computed anew")
      .Range(0, 0.9);
  set.AddNamed(
      "--thinking", o.thinking, kThinkings,
      "Thoughts, in <think> or as a server's reasoning_content: content (those in the response "
      "stay, others are left out), keep (all stay in prompts and results), strip (none stay), "
      "strip_history (all stay in the results, but prompts have none of earlier turns)");
}

SamplingParams ParamsOf(const SamplingOptions& options) {
  SamplingParams sampling;
  sampling.temperature = options.temperature;
  sampling.top_p = options.top_p;
  sampling.max_tokens = options.max_new_tokens;
  sampling.stop = options.stop;
  return sampling;
}

void DeclareParallelism(OptionSet& set, ParallelismOptions& o, const std::string& what,
                        const std::string& former_max_tries) {
  set.Group("Parallelism");
  set.Add("--" + what + "_in_flight", o.in_flight,
          "Number of " + what + " in progress at once (waiting uses no core)")
      .Range(1, kMostInFlight)
      .OnlySpeed();
  set.Add("--sessions", o.sessions,
          "Environment sessions open at once if the server cannot fork; 0: 256, but 16 for each "
          "SciWorld server, where each session costs a Java machine")
      .Range(0, 1000000)
      .OnlySpeed();
  set.Add("--max_tries", o.max_tries,
          "Attempts at a task before it counts as failed; failed calls are retried separately")
      .Min(1)
      .Formerly(former_max_tries)
      .OnlySpeed();
  set.Add("--give_up_after", o.give_up_after, "Failed tasks in a row after which the run ends")
      .Min(1)
      .OnlySpeed();
  set.Add("--metrics_port", o.metrics_port,
          "Serve the run's progress as Prometheus text, GET http://127.0.0.1:PORT/metrics; 0: not")
      .Range(0, 65535)
      .OnlyOnCommandLine()
      .OnlyOutput();
}

}  // namespace agentr
