#include "eval/summary.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "eval/task_episodes.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

double Per(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string Percent(int64_t part, int64_t whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * Per(part, whole)) : "-";
}

std::string Line(std::string_view name, const std::string& text) {
  return fmt::format("{:<20}{}\n", name, text);
}

std::string Ends(const EvalMetrics& metrics) {
  std::string text;
  for (const auto& [name, end] : kEpisodeEnds) {
    const int64_t count = metrics.ends[static_cast<size_t>(end)];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
    if (!HasResult(end)) text += " (not counted below)";
  }
  return text;
}

// "k=1 0.512, k=4 0.730 (12 tasks)"; the number of tasks is shown if some have fewer attempts.
std::string PassByAttempts(const EvalMetrics& metrics) {
  std::string text;
  for (const AttemptMetrics& attempts : metrics.attempts) {
    text += fmt::format("{}k={} {:.3f}", text.empty() ? "" : ", ", attempts.k, attempts.pass);
    if (attempts.tasks < metrics.reward.tasks) text += fmt::format(" ({} tasks)", attempts.tasks);
  }
  return text;
}

std::string Tokens(const EvalMetrics& metrics) {
  const Usage& usage = metrics.usage;
  return fmt::format("{:.0f} prompt ({} cached), {:.0f} completion",
                     Per(usage.prompt_tokens, metrics.with_result),
                     Percent(usage.cached_tokens, usage.prompt_tokens),
                     Per(usage.completion_tokens, metrics.with_result));
}

std::string Loops(const EvalMetrics& metrics) {
  std::string text =
      fmt::format("in {} of the episodes", Percent(metrics.looping, metrics.with_result));
  std::string lengths;
  for (size_t i = 0; i < metrics.repeats.size(); ++i) {
    if (metrics.repeats[i] == 0) continue;
    lengths += fmt::format("{}{}: {:.2f}", lengths.empty() ? "" : ", ", i + 1,
                           Per(metrics.repeats[i], metrics.with_result));
  }
  return lengths.empty() ? text : text + "; repetitions per episode by length " + lengths;
}

std::string Revisions(const EvalMetrics& metrics) {
  if (metrics.revising == 0) return "none";
  return fmt::format(
      "{} in {} episodes, the first after {:.1f} steps; {} directly after refused steps, of which "
      "there were {} runs",
      metrics.revision_events, metrics.revising, metrics.mean_revision_length,
      metrics.revised_errors, metrics.errors);
}

// A field of a csv file.
std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string CsvLine(const TaskEpisodes& task, const MetricOptions& options) {
  std::string rewards, ends, errors;
  size_t steps = 0, successes = 0;
  const auto add = [](std::string& list, const char* separator, std::string_view item) {
    list += fmt::format("{}{}", list.empty() ? "" : separator, item);
  };
  for (const Episode* episode : task.all) {
    const bool counts = HasResult(episode->end);
    add(rewards, " ", counts ? fmt::format("{}", episode->reward) : "-");
    add(ends, " ", Name(episode->end));
    if (!episode->error.empty()) add(errors, "; ", episode->error);
    if (!counts) continue;
    steps += OwnTurns(*episode).size();
    successes += IsSuccess(*episode, options.success_threshold);
  }
  const size_t results = task.with_result.size();
  const std::string reward = results > 0 ? fmt::format("{}", MeanReward(task)) : "";
  const double mean_steps = static_cast<double>(steps) / static_cast<double>(results);
  return fmt::format("{},{},{},{},{},{},{},{},{}\n", task.task_id, task.all.size(),
                     task.all.size() - results, reward, successes,
                     results > 0 ? fmt::format("{}", mean_steps) : "", rewards, ends,
                     Quoted(errors));
}

Json AttemptsJson(const EvalMetrics& metrics) {
  Json attempts = Json::array();
  for (const AttemptMetrics& at : metrics.attempts) {
    attempts.push_back({{"k", at.k}, {"tasks", at.tasks}, {"avg", at.avg}, {"pass", at.pass}});
  }
  return attempts;
}

Json OrNull(bool known, double value) { return known ? Json(value) : Json(); }

}  // namespace

std::string Text(const Estimate& estimate, bool percent) {
  if (estimate.tasks == 0) return "-";
  const double scale = percent ? 100 : 1;
  const auto number = [&](double value) {
    return fmt::format("{:.{}f}", scale * value, percent ? 1 : 3);
  };
  return fmt::format("{}{} [{}, {}]", number(estimate.mean), percent ? " %" : "",
                     number(estimate.low), number(estimate.high));
}

Json ToJson(const Estimate& estimate) {
  if (estimate.tasks == 0) return nullptr;
  return {{"mean", estimate.mean},
          {"low", estimate.low},
          {"high", estimate.high},
          {"tasks", estimate.tasks}};
}

std::string SummaryTable(const EvalMetrics& metrics, int64_t asked_for) {
  std::string table = Line("episodes", fmt::format("{} of {} requested, {} tasks", metrics.episodes,
                                                   asked_for, metrics.tasks));
  if (metrics.episodes > 0) table += Line("ended", Ends(metrics));
  if (const int64_t lacking = asked_for - metrics.with_result; lacking > 0) {
    table += Line("INCOMPLETE", fmt::format("{} have no result yet; episodes that end early are "
                                            "over-represented, so the numbers are biased",
                                            lacking));
  }
  if (metrics.with_result == 0) return table;
  table += Line("mean reward", Text(metrics.reward) + ", 95 % interval over tasks");
  table += Line("success rate",
                fmt::format("{}, {} episodes", Text(metrics.success, true), metrics.successes));
  if (metrics.attempts.size() > 1) {
    const AttemptMetrics& most = metrics.attempts.back();
    table += Line(fmt::format("avg@{} (reward)", most.k), fmt::format("{:.3f}", most.avg));
    table += Line("pass@k (success)", PassByAttempts(metrics));
  }
  table += Line("steps per episode", fmt::format("{:.1f}", metrics.mean_steps));
  table += Line("refused steps", Percent(metrics.refused, metrics.steps));
  if (metrics.cut_steps > 0) {
    table += Line("cut prompts",
                  Percent(metrics.cut_steps, metrics.steps) +
                      " of the steps (with --context_slack 0.25 fewer tokens are read anew)");
  }
  table += Line("tokens per episode", Tokens(metrics));
  table += Line("loops", Loops(metrics));
  table += Line("revisions", Revisions(metrics));
  if (metrics.slips) {
    table += SlipTable(std::array{SlipColumn{*metrics.slips, metrics.with_result}},
                       metrics.revision_window);
  }
  return table;
}

Json SummaryJson(const EvalMetrics& metrics, int64_t asked_for) {
  const bool any = metrics.with_result > 0;
  Json ends;
  for (const auto& [name, end] : kEpisodeEnds) {
    const int64_t count = metrics.ends[static_cast<size_t>(end)];
    // Summaries without cut turns have the fields of earlier releases.
    if (count > 0 || end != EpisodeEnd::kCutTurn) ends[name] = count;
  }
  Json summary = {
      {"asked_for", asked_for},
      {"complete", metrics.with_result == asked_for},
      {"episodes", metrics.episodes},
      {"tasks", metrics.tasks},
      {"ends", ends},
      {"with_result", metrics.with_result},
      {"reward", ToJson(metrics.reward)},
      {"success", ToJson(metrics.success)},
      {"successes", metrics.successes},
      {"attempts", AttemptsJson(metrics)},
      {"mean_steps", OrNull(any, metrics.mean_steps)},
      {"steps", metrics.steps},
      {"refused_steps", metrics.refused},
      {"cut_steps", metrics.cut_steps},
      {"prompt_tokens", metrics.usage.prompt_tokens},
      {"completion_tokens", metrics.usage.completion_tokens},
      {"looping_episodes", metrics.looping},
      {"repeats_by_length", metrics.repeats},
      {"revision_events", metrics.revision_events},
      {"errors", metrics.errors},
      {"revised_errors", metrics.revised_errors},
      {"revising_episodes", metrics.revising},
      {"mean_revision_length", OrNull(metrics.revising > 0, metrics.mean_revision_length)}};
  if (metrics.slips) summary["slips"] = SlipJson(*metrics.slips, metrics.revision_window);
  return summary;
}

std::string SummaryCsv(std::span<const Episode> episodes, const MetricOptions& options) {
  std::string csv = "task,attempts,errors,mean_reward,successes,mean_steps,rewards,ends,error\n";
  for (const TaskEpisodes& task : GroupByTask(episodes)) csv += CsvLine(task, options);
  return csv;
}

}  // namespace agentr
