#include "revision/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/progress.h"
#include "common/text.h"
#include "revision/find/verifier.h"
#include "revision/revise.h"

namespace agentr {
namespace {

std::string Share(int64_t part, int64_t whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  return fmt::format("{} ({:.1f} %)", part, 100 * share);
}

std::string Rate(int64_t count, double seconds) {
  return fmt::format("{:.0f}", static_cast<double>(count) / std::max(seconds, 1e-9));
}

std::string Line(const std::string& name, const std::string& text) {
  return fmt::format("{:<14}{}\n", name, text);
}

std::string Trees(const ReviseReport& report) {
  const RevisionCounts& counts = report.counts;
  const auto bad = std::ranges::count(report.failed, true, &TaskFailure::bad_tree);
  std::string text = fmt::format("{} read", counts.trees);
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(bad, "bad files");
  add(static_cast<int64_t>(report.failed.size()) - bad, "failed");
  add(counts.without_good, "without a good path");
  add(counts.without_pairs, "without a bad path");
  add(counts.cache_hits, "decided by an earlier run");
  return text;
}

// Positions up to 5 separately, later ones together.
std::string FirstErrors(const RevisionCounts& counts) {
  constexpr int kLast = 5;
  int64_t all = 0;
  std::map<int, int64_t> grouped;
  for (const auto& [position, count] : counts.first_errors) {
    grouped[std::min(position, kLast + 1)] += count;
    all += count;
  }
  std::string text;
  for (const auto& [position, count] : grouped) {
    if (position == 0) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "step " : ", ",
                        position > kLast ? fmt::format("{}+", kLast + 1) : std::to_string(position),
                        Share(count, all));
  }
  if (grouped.contains(0)) {
    text += fmt::format("{}none found: {}", text.empty() ? "" : ", ", Share(grouped[0], all));
  }
  return text;
}

// By name, the most frequent first.
std::string Mistakes(const RevisionCounts& counts) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  int64_t all = 0;
  for (const auto& [name, count] : counts.mistakes) {
    sorted.emplace_back(-count, name);
    all += count;
  }
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [count, name] : sorted) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", EscapeControls(name), Share(-count, all));
  }
  return text;
}

std::string Recoveries(const RevisionCounts& counts) {
  std::string text;
  for (const auto& [actions, count] : counts.recoveries) {
    if (actions == 0) continue;
    text += fmt::format("{}{} with {} action{}", text.empty() ? "" : ", ", count, actions,
                        actions == 1 ? "" : "s");
  }
  return text.empty() ? "none needed or found" : text;
}

std::string Judgements(const RevisionCounts& counts) {
  std::string text;
  for (const auto& [name, judgement] : kJudgements) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        counts.judgements[static_cast<size_t>(judgement)], name);
  }
  return text + fmt::format(" ({} unreadable)", counts.unparsed);
}

std::string Replays(const RevisionCounts& counts) {
  int64_t all = 0;
  for (const int64_t count : counts.replays) all += count;
  std::string text;
  for (const ReplayOutcome outcome : {ReplayOutcome::kVerified, ReplayOutcome::kDiverged,
                                      ReplayOutcome::kFailed, ReplayOutcome::kUnchecked}) {
    const int64_t count = counts.replays[static_cast<size_t>(outcome)];
    if (outcome == ReplayOutcome::kUnchecked && count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Name(outcome), Share(count, all));
  }
  if (counts.ended_bad > 0) {
    text +=
        fmt::format("; {} of the failed were over before the first good step", counts.ended_bad);
  }
  return text;
}

std::string ModelUse(const ReviseReport& report) {
  const Usage& usage = report.usage;
  std::string text = fmt::format("{} requests, {} prompt tokens, {} new tokens", usage.requests,
                                 usage.prompt_tokens, usage.completion_tokens);
  if (report.cost > 0) text += fmt::format(", cost {:.4f}", report.cost);
  return text;
}

std::string Calls(const ReviseReport& report) {
  const RevisionCounts& counts = report.counts;
  return fmt::format("{} episodes, {}/s; {} actions shared, {} executed", counts.episodes,
                     Rate(counts.episodes, report.wall_s), counts.episode_turns,
                     counts.calls.steps + counts.calls.replays);
}

}  // namespace

std::string ReportTable(const ReviseReport& report) {
  const RevisionCounts& counts = report.counts;
  std::string table = Line("trees", Trees(report));
  table += Line("paths", fmt::format("{}; {} good, {} bad beside a good one", counts.paths,
                                     counts.good_paths, counts.bad_paths));
  std::string pairs = fmt::format("{} found, {} run", counts.pairs_found, counts.pairs);
  if (counts.mistakes_found > 0) {
    pairs = fmt::format("{} mistakes, {}", counts.mistakes_found, pairs);
  }
  table += Line("pairs", pairs);
  if (!counts.mistakes.empty()) table += Line("mistakes", Mistakes(counts));
  if (!counts.first_errors.empty()) table += Line("first error", FirstErrors(counts));
  if (std::ranges::any_of(counts.judgements, [](int64_t n) { return n > 0; })) {
    table += Line("judgements", Judgements(counts));
  }
  if (report.usage.requests > 0) table += Line("model", ModelUse(report));
  table += Line("replay", Replays(counts));
  if (!counts.recoveries.empty()) table += Line("recoveries", Recoveries(counts));
  if (counts.episodes > 0) table += Line("", Calls(report));
  table += Line("dropped",
                fmt::format("{} exact and {} near duplicates, {} too long, {} unclean, {} with a "
                            "thought that contradicts its action; {} turns pruned, {} cut, {} with "
                            "another thought, {} before a mistake not trained for a contradiction",
                            report.exact_duplicates, report.near_duplicates, counts.too_long,
                            counts.unclean_rows, counts.disagreeing_rows, counts.pruned_turns,
                            counts.cut_turns, counts.rewritten_turns, counts.disagreeing_turns));
  table += Line("rows", std::to_string(report.rows));
  table += Line(
      "time", fmt::format("{:.2f} s, {} rows/s", report.wall_s, Rate(report.rows, report.wall_s)));
  for (const TaskFailure& failure : report.failed) {
    table += fmt::format("  task {}: {}\n", failure.task_id, EscapeControls(failure.error.message));
  }
  for (const WrittenFile& file : report.files) {
    table +=
        fmt::format("{} ({:.1f} MB)\n", file.path.string(), static_cast<double>(file.bytes) / 1e6);
  }
  return table;
}

std::string WhyNoRows(const ReviseReport& report, double alpha) {
  const RevisionCounts& counts = report.counts;
  if (!counts.best_reward)
    return "no rows: the trees have no ended path; search with more iterations";
  const std::string best = fmt::format("no rows; the best reward of {} paths is {:.3g}",
                                       counts.paths, *counts.best_reward);
  if (counts.good_paths == 0) {
    return fmt::format(
        "{}, but a good path has at least {:.3g} (--alpha): lower --alpha, or search with more "
        "iterations or a better model",
        best, alpha);
  }
  if (counts.pairs_found == 0) {
    return fmt::format(
        "{}, but no tree has a bad path beside its good one: search more widely (--iterations, "
        "--n_gen), or take the good paths alone, --data_type good",
        best);
  }
  return fmt::format("{}, but of {} pairs none became a row: see \"replay\" and \"dropped\" above",
                     best, counts.pairs_found);
}

nlohmann::ordered_json ToJson(const RevisionCounts& counts) {
  nlohmann::ordered_json json = FieldsToJson(kRevisionSums, counts);
  for (const auto& [position, count] : counts.first_errors) {
    json["first_error_at"][position == 0 ? "none" : std::to_string(position)] = count;
  }
  for (const auto& [name, count] : counts.mistakes) json["mistakes"][name] = count;
  for (const auto& [actions, count] : counts.recoveries) {
    json["recovery_actions"][std::to_string(actions)] = count;
  }
  for (const auto& [name, judgement] : kJudgements) {
    json["judgements"][std::string(name)] = counts.judgements[static_cast<size_t>(judgement)];
  }
  for (const auto& [name, outcome] : kReplayOutcomes) {
    json["replay"][std::string(name)] = counts.replays[static_cast<size_t>(outcome)];
  }
  json["environment"] = FieldsToJson(kExecutionFields, counts.calls);
  return json;
}

nlohmann::ordered_json ReportJson(const ReviseReport& report) {
  auto failed = nlohmann::ordered_json::array();
  for (const TaskFailure& f : report.failed) {
    failed.push_back({{"task", f.task_id}, {"bad_tree", f.bad_tree}, {"error", f.error.message}});
  }
  nlohmann::ordered_json model = FieldsToJson(kUsageFields, report.usage);
  if (report.cost > 0) model["cost"] = report.cost;
  return {{"rows", report.rows},
          {"verified", report.verified},
          {"exact_duplicates", report.exact_duplicates},
          {"near_duplicates", report.near_duplicates},
          {"failed", std::move(failed)},
          {"wall_s", report.wall_s},
          {"model", std::move(model)},
          {"counts", ToJson(report.counts)}};
}

}  // namespace agentr
