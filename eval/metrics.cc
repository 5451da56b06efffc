#include "eval/metrics.h"

#include <algorithm>

#include "eval/loops.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

double Ratio(double part, int64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

AttemptMetrics MeasureAttempts(std::span<const TaskEpisodes> tasks, size_t k, double threshold) {
  AttemptMetrics metrics{.k = static_cast<int>(k)};
  for (const TaskEpisodes& task : tasks) {
    const auto n = static_cast<int64_t>(task.with_result.size());
    if (task.with_result.size() < k) continue;
    const auto successes = std::ranges::count_if(
        task.with_result, [&](const Episode* episode) { return IsSuccess(*episode, threshold); });
    ++metrics.tasks;
    metrics.avg += MeanReward(task);
    metrics.pass += PassAtK(n, successes, static_cast<int64_t>(k));
  }
  metrics.avg = Ratio(metrics.avg, static_cast<int64_t>(metrics.tasks));
  metrics.pass = Ratio(metrics.pass, static_cast<int64_t>(metrics.tasks));
  return metrics;
}

std::vector<AttemptMetrics> MeasureAttempts(std::span<const TaskEpisodes> tasks, double threshold) {
  size_t most = 0;
  for (const TaskEpisodes& task : tasks) most = std::max(most, task.with_result.size());
  std::vector<AttemptMetrics> attempts;
  for (size_t k = 1; k < most; k *= 2) attempts.push_back(MeasureAttempts(tasks, k, threshold));
  if (most > 0) attempts.push_back(MeasureAttempts(tasks, most, threshold));
  return attempts;
}

void AddLoops(std::span<const EpisodeTurn> turns, EvalMetrics& metrics) {
  std::vector<std::string_view> actions;
  for (const EpisodeTurn& turn : turns) actions.push_back(turn.action);
  const std::vector<int64_t> repeats =
      CountRepeats(actions, static_cast<int>(metrics.repeats.size()));
  for (size_t i = 0; i < repeats.size(); ++i) metrics.repeats[i] += repeats[i];
  metrics.looping += std::ranges::any_of(repeats, [](int64_t count) { return count > 0; });
}

void AddRevisions(std::span<const EpisodeTurn> turns, const RevisionSigns& signs,
                  EvalMetrics& metrics) {
  bool refused = false;  // the turn before
  std::optional<size_t> first;
  for (size_t i = 0; i < turns.size(); ++i) {
    const bool revises = signs.Revises(turns[i]);
    if (revises && !first) first = i;
    metrics.revision_events += revises;
    metrics.revised_errors += revises && refused;
    const bool refused_now = turns[i].refused && turns[i].action != signs.action;
    metrics.errors += refused_now && (!refused || revises);
    refused = refused_now;
  }
  if (!first) return;
  ++metrics.revising;
  metrics.mean_revision_length += static_cast<double>(*first);
}

// The sums that Measure turns into means.
void AddEpisode(const Episode& episode, const MetricOptions& options, EvalMetrics& metrics) {
  const std::span<const EpisodeTurn> turns = OwnTurns(episode);
  ++metrics.with_result;
  metrics.successes += IsSuccess(episode, options.success_threshold);
  metrics.usage += episode.usage;
  metrics.steps += static_cast<int64_t>(turns.size());
  metrics.refused += std::ranges::count(turns, true, &EpisodeTurn::refused);
  metrics.cut_steps +=
      std::ranges::count_if(turns, [](const EpisodeTurn& turn) { return turn.dropped_turns > 0; });
  AddLoops(turns, metrics);
  AddRevisions(turns, options.revisions, metrics);
}

}  // namespace

double PassAtK(int64_t n, int64_t c, int64_t k) {
  if (n - c < k) return 1;
  double all_fail = 1;
  for (int64_t i = n - c + 1; i <= n; ++i) {
    all_fail *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - all_fail;
}

EvalMetrics Measure(std::span<const Episode> episodes, const MetricOptions& options) {
  EvalMetrics metrics;
  metrics.repeats.resize(static_cast<size_t>(std::max(options.longest_loop, 0)));
  for (const Episode& episode : episodes) {
    ++metrics.episodes;
    ++metrics.ends[static_cast<size_t>(episode.end)];
    if (HasResult(episode.end)) AddEpisode(episode, options, metrics);
  }
  metrics.mean_steps = Ratio(static_cast<double>(metrics.steps), metrics.with_result);
  metrics.mean_revision_length = Ratio(metrics.mean_revision_length, metrics.revising);

  metrics.revision_window = options.revision_window;
  if (options.slips) {
    metrics.slips = MeasureSlips(episodes, {.success_threshold = options.success_threshold,
                                            .revisions = options.revisions,
                                            .window = options.revision_window});
  }

  const std::vector<TaskEpisodes> tasks = GroupByTask(episodes);
  metrics.tasks = static_cast<int64_t>(tasks.size());
  std::vector<double> rewards, successes;
  for (const TaskEpisodes& task : tasks) {
    if (task.with_result.empty()) continue;
    rewards.push_back(MeanReward(task));
    successes.push_back(SuccessShare(task, options.success_threshold));
  }
  metrics.reward = BootstrapMean(rewards, options.bootstrap);
  metrics.success = BootstrapRate(successes, options.bootstrap);
  metrics.attempts = MeasureAttempts(tasks, options.success_threshold);
  return metrics;
}

}  // namespace agentr
