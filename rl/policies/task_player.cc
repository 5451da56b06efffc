#include "rl/policies/task_player.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "common/interrupt.h"
#include "common/options.h"
#include "common/work_queue.h"
#include "eval/task_selection.h"
#include "lm/decoder/load_decoder.h"
#include "lm/engine/sampler.h"
#include "lm/model_folder.h"
#include "rl/agent_rl.h"
#include "rollout/replay_executor.h"
#include "rollout/session_pool.h"
#include "tasks/splits.h"
#include "tasks/task_kinds.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

// Learning computes in float32, and what is scored must be what was sampled.
LoadedModel OpenPolicy(const AgentRlOptions& o, const PolicyModel& policy) {
  ModelFolderOptions options;
  options.chat_template = o.trees.chat_template;
  options.decoder.dtype = "float32";
  options.decoder.threads = o.threads > 0 ? o.threads : at::get_num_threads();
  options.decoder.kv_cache_gib = o.tasks.kv_cache_gib;
  options.engine.max_batch = o.tasks.max_batch;
  return LoadModel(o.start.dir, "policy", options, policy.Snapshot(0));
}

EnvironmentOptions EnvironmentOf(const AgentRlOptions& o) {
  EnvironmentOptions environment;
  environment.task = o.tasks.task;
  return environment;
}

[[noreturn]] void EndForLogits() {
  EndDiverged("the logits of the policy are not finite while it plays");
}

}  // namespace

void Declare(OptionSet& set, TaskPlayOptions& o) {
  set.Group("Playing tasks (grpo without --episodes)");
  set.Add("--split", o.split,
          "The tasks to learn from: train (all but the published test ids), or a file of ids, one "
          "per line or as a JSON array");
  set.Add("--groups", o.groups, "Groups of episodes that an iteration learns from").Min(1);
  set.Add("--attempts", o.attempts, "Episodes of a task: its group").Min(2);
  set.Add(
         "--draws", o.draws,
         "How often tasks are drawn in an iteration to take the place of groups whose episodes all "
         "have the same reward; 1: such groups are only left out")
      .Min(1);
  set.Add("--max_steps", o.max_steps, "Turns until an episode is ended").Min(1);
  set.Add("--temperature", o.temperature, "Sampling temperature of the episodes").Range(0.01, 100);
  set.Add("--eval_split", o.eval_split,
          "The tasks of evaluations: the first --eval_episodes of test, or of a file of ids")
      .OnlyOutput();
  set.Add("--max_batch", o.max_batch, "Responses that are written at once; others wait")
      .Min(1)
      .OnlySpeed();
  set.Add("--kv_cache_gib", o.kv_cache_gib, kKvCacheHelp).Min(0).OnlySpeed();
}

TaskPlayer::TaskPlayer(const AgentRlOptions& options, PolicyModel& policy, Workbench& workbench)
    : options_(options),
      policy_(policy),
      family_(MakeTaskFamily(options.tasks.task)),
      environment_(workbench.OpenEnvironment(EnvironmentOf(options))),
      model_(std::make_unique<LocalLanguageModel>(OpenPolicy(options, policy))) {}

std::vector<int> TaskPlayer::Tasks(const std::string& split, bool learn) const {
  const std::vector<int> ids =
      SelectTasks({.split = split}, options_.tasks.task, environment_->info().tasks);
  if (!learn) return ids;
  const Split& published = SplitOf(options_.tasks.task);
  for (const int id : ids) {
    if (!published.IsTest(id)) continue;
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--split {}: task {} is a test task of {}, from which nothing may "
                                 "be learned",
                                 split, id, options_.tasks.task));
  }
  return ids;
}

void TaskPlayer::Load(int64_t version) {
  const Result<int64_t> loaded = model_->Load(policy_.Snapshot(version));
  if (!loaded) {
    throw FatalError(ExitCode::kInternal, "the engine of the policy: " + loaded.error().message);
  }
}

std::optional<std::vector<Episode>> TaskPlayer::Play(const std::vector<EpisodeStart>& starts,
                                                     double temperature, uint64_t seed) {
  PlayOptions play;
  play.temperature = temperature;
  play.seed = seed;
  play.max_steps = options_.tasks.max_steps;
  play.max_new_tokens = options_.experience.max_new_tokens;
  play.max_context = options_.trees.data.max_length;
  play.revision_action = family_->RevisionAction();
  const std::atomic<bool>& signal = StopOnSignal();
  const int in_flight = std::min(static_cast<int>(starts.size()), environment_->DefaultSessions());
  std::atomic<bool> failed = false;
  SessionPool sessions(*environment_, in_flight);
  WorkQueue queue(starts.size(), in_flight, /*give_up_after=*/1 << 30, failed);
  std::vector<Episode> episodes(starts.size());
  queue.Run([&](size_t i) {
    if (signal) return;
    // Episodes have no branches: a session that only steps forward is enough.
    ReplayExecutor executor(starts[i].task_id, sessions, *family_, signal);
    EpisodePlayer player(
        play, starts[i],
        {*family_, *model_, executor, signal, nullptr, &first_responses_, &cut_turns_});
    Result<Episode> episode = player.Run();
    if (episode) episodes[i] = *std::move(episode);
  });
  if (signal) return std::nullopt;
  std::string failure;  // of the first one without a result
  size_t without = 0;
  for (const Episode& episode : episodes) {
    if (HasResult(episode.end)) continue;
    if (episode.error.find(kLogitsNotFinite) != std::string::npos) EndForLogits();
    if (++without == 1) failure = fmt::format("task {}: {}", episode.task_id, episode.error);
  }
  if (without == episodes.size()) {
    throw FatalError(ExitCode::kUnavailable, "no episode has a result; the first, " + failure);
  }
  if (without > 0) spdlog::warn("{} episodes have no result; the first, {}", without, failure);
  return episodes;
}

}  // namespace agentr
