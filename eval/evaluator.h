// Plays the episodes of a run, many at once (rollout/task_run.h).
#pragma once

#include <atomic>
#include <vector>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "eval/episode_store.h"
#include "rollout/episode.h"
#include "rollout/episode_player.h"
#include "rollout/run_options.h"
#include "rollout/run_report.h"
#include "tasks/task_family.h"

namespace agentr {

struct EvaluatorReport : RunReport {
  std::vector<Episode> failed;  // ended in an error, by task and attempt
  int64_t turns = 0;            // of the written episodes
};

class Evaluator {
 public:
  // All references outlive the evaluator.
  Evaluator(const TaskFamily& family, Environment& environment, LanguageModel& model,
            EpisodeStore& store, const PlayOptions& play, const ParallelismOptions& options);

  // Plays `starts` in order. Set `stop` to end early: episodes in flight are given up. Throws
  // FatalError when an episode cannot be written.
  EvaluatorReport Run(const std::vector<EpisodeStart>& starts, std::atomic<bool>& stop);

 private:
  struct Shared;  // the state that the workers of one Run share
  // False if the episode was lost to another worker.
  bool PlayAndKeep(const EpisodeStart& start, Shared& shared);
  Result<Episode> PlayOnce(const EpisodeStart& start, Shared& shared);
  bool Keep(const Episode& episode, Shared& shared);

  const TaskFamily& family_;
  Environment& environment_;
  LanguageModel& model_;
  EpisodeStore& store_;
  const PlayOptions play_;
  const ParallelismOptions options_;
};

}  // namespace agentr
