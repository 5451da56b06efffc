#include "eval/slip_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>
#include <vector>

#include "common/json_lenient.h"
#include "eval/summary.h"
#include "eval/task_episodes.h"

namespace agentr {
namespace {

constexpr size_t kLoop = 3;  // equal actions at the end of an episode

const std::string& Said(const EpisodeTurn& turn) {
  return turn.slip ? turn.slip->said : turn.action;
}

// True if the first kLoop turns, of which there must be as many, say the same action.
bool SayTheSame(auto&& backwards) {
  const std::string* said = nullptr;
  size_t equal = 0;
  for (const EpisodeTurn& turn : backwards | std::views::take(kLoop)) {
    if (said == nullptr) said = &Said(turn);
    if (Said(turn) == *said) ++equal;
  }
  return equal == kLoop;
}

// The same action with revision turns between is a loop, too.
bool EndsInLoop(std::span<const EpisodeTurn> turns, const std::string& revision_action) {
  const auto backwards = std::views::reverse(turns);
  return SayTheSame(backwards) ||
         SayTheSame(backwards | std::views::filter([&](const EpisodeTurn& turn) {
                      return turn.action != revision_action;
                    }));
}

SlipMetrics OfEpisode(const Episode& episode, const SlipMetricOptions& options) {
  const std::span<const EpisodeTurn> turns = OwnTurns(episode);
  const auto window = static_cast<size_t>(std::max(options.window, 0));
  const auto revises = [&](const EpisodeTurn& turn) { return options.revisions.Revises(turn); };
  const auto refused = [&](const EpisodeTurn& turn) {
    return turn.refused && turn.action != options.revisions.action;
  };
  const auto fails = [&](const EpisodeTurn& turn) { return turn.slip || refused(turn); };
  SlipMetrics sums;
  for (size_t i = 0; i < turns.size(); ++i) {
    const EpisodeTurn& turn = turns[i];
    ++sums.steps;
    sums.missed_slips += turn.missed_slip;
    if (turn.slip) {
      ++sums.slips;
      const auto next = turns.subspan(i + 1, std::min(window, turns.size() - i - 1));
      sums.revised_slips += std::ranges::any_of(next, revises);
      sums.changing_slips += turn.slip->changed_state;
      sums.undone_slips += turn.slip->undone_after > 0;
      sums.steps_to_undo += turn.slip->undone_after;
    } else if (refused(turn)) {
      ++sums.refused_own;
      const auto rest = turns.subspan(i + 1);
      const auto next = std::ranges::find_if(
          rest, [&](const EpisodeTurn& later) { return later.action != options.revisions.action; });
      if (next != rest.end() && !next->slip) {
        ++sums.behind_refusals;
        sums.said_again += next->action == turn.action;
        sums.then_taken += !next->refused;
      }
    }
    if (revises(turn)) {
      ++sums.revisions;
      const size_t before = std::min(window, i);
      sums.false_revisions += std::ranges::none_of(turns.subspan(i - before, before), fails);
    }
  }
  sums.slipping = sums.slips > 0;
  sums.successes = sums.slips > 0 && IsSuccess(episode, options.success_threshold);
  sums.ended_in_loop = EndsInLoop(turns, options.revisions.action);
  return sums;
}

std::string OfAll(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} % ({} of {})",
                     100 * static_cast<double>(part) / static_cast<double>(whole), part, whole);
}

// Of the slips that changed something, those that were undone, and when; "-" where there are none.
std::string Undone(const SlipMetrics& m) {
  std::string text = OfAll(m.undone_slips, m.changing_slips);
  if (m.undone_slips > 0) {
    text += fmt::format(", after {:.1f} steps",
                        static_cast<double>(m.steps_to_undo) / static_cast<double>(m.undone_slips));
  }
  return text;
}

std::string BehindRefusals(const SlipMetrics& m) {
  if (m.behind_refusals == 0) return "-";
  const auto percent = [&](int64_t part) {
    return 100 * static_cast<double>(part) / static_cast<double>(m.behind_refusals);
  };
  return fmt::format("{:.1f} % say it again, {:.1f} % work", percent(m.said_again),
                     percent(m.then_taken));
}

// A name and what it says.
using SlipRow = std::pair<std::string, std::string>;

// What becomes of slips is told only if `slipped`: without a slip in any column it would be dashes.
std::vector<SlipRow> SlipRows(const SlipColumn& column, int window, bool slipped) {
  const SlipMetrics& m = column.metrics;
  std::vector<SlipRow> rows = {{"slips", OfAll(m.slips, m.steps) + " of the steps"}};
  if (m.missed_slips > 0) {
    rows[0].second += fmt::format("; {} missed", m.missed_slips);
  }
  if (slipped) {
    rows.insert(rows.end(),
                {{"slipping episodes", "success in " + OfAll(m.successes, m.slipping)},
                 {fmt::format("revised in {} steps", window), OfAll(m.revised_slips, m.slips)},
                 {"undone slips", Undone(m)}});
  }
  rows.insert(rows.end(), {{"false revisions", OfAll(m.false_revisions, m.revisions)},
                           {"refused, no slips", OfAll(m.refused_own, m.steps - m.slips)},
                           {"behind a refusal", BehindRefusals(m)},
                           {"end in a loop", OfAll(m.ended_in_loop, column.episodes)}});
  return rows;
}

// The options of an evaluation without those of its slips, and whether it had slips.
struct WithoutSlips {
  explicit WithoutSlips(const std::string& text)
      : options(nlohmann::ordered_json::parse(text, nullptr, false)) {
    if (!options.is_object()) return;
    has_slips = options.contains("slip");
    for (const char* of_slips : {"slip", "slip_kind", "slip_shown"}) options.erase(of_slips);
  }

  nlohmann::ordered_json options;
  bool has_slips = false;
};

// The slips of an evaluation that was played with the options `played`.
SlipMetrics MeasureAsPlayed(std::span<const Episode> episodes, const nlohmann::ordered_json& played,
                            SlipMetricOptions options) {
  options.revisions.action =
      FieldOr<std::string>(played, "revision_action", options.revisions.action);
  return MeasureSlips(episodes, options);
}

void CountKept(std::span<const Episode> without, std::span<const Episode> with,
               double success_threshold, SlipComparison& comparison) {
  const auto slipped = ByAttempt(with);
  for (const Episode& episode : without) {
    const auto found = slipped.find(IdOf(episode));
    if (!HasResult(episode.end) || !IsSuccess(episode, success_threshold)) continue;
    if (found == slipped.end() || !HasResult(found->second->end)) continue;
    const bool slips = std::ranges::any_of(
        OwnTurns(*found->second), [](const EpisodeTurn& turn) { return turn.slip.has_value(); });
    comparison.at_stake += slips;
    comparison.kept += slips && IsSuccess(*found->second, success_threshold);
  }
}

int64_t CountResults(std::span<const Episode> episodes) {
  return std::ranges::count_if(episodes,
                               [](const Episode& episode) { return HasResult(episode.end); });
}

}  // namespace

SlipMetrics& SlipMetrics::operator+=(const SlipMetrics& other) {
  AddFields(kSlipFields, other, *this);
  return *this;
}

SlipMetrics MeasureSlips(std::span<const Episode> episodes, const SlipMetricOptions& options) {
  SlipMetrics sums;
  for (const Episode& episode : episodes) {
    if (HasResult(episode.end)) sums += OfEpisode(episode, options);
  }
  return sums;
}

nlohmann::ordered_json SlipJson(const SlipMetrics& metrics, int window) {
  nlohmann::ordered_json json = FieldsToJson(kSlipFields, metrics);
  json["window"] = window;
  json["mean_steps_to_undo"] = nullptr;
  if (metrics.undone_slips > 0) {
    json["mean_steps_to_undo"] =
        static_cast<double>(metrics.steps_to_undo) / static_cast<double>(metrics.undone_slips);
  }
  return json;
}

std::string SlipTable(std::span<const SlipColumn> columns, int window) {
  const bool slipped = std::ranges::any_of(
      columns, [](const SlipColumn& column) { return column.metrics.slips > 0; });
  std::vector<std::vector<SlipRow>> rows;
  for (const SlipColumn& column : columns) {
    rows.push_back(SlipRows(column, window, slipped));
  }
  std::string table;
  for (size_t line = 0; line < rows.front().size(); ++line) {
    table += fmt::format("{:<{}}", rows.front()[line].first, kSlipNameWidth);
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      table += fmt::format("{:<{}}", rows[i][line].second, kSlipColumnWidth);
    }
    table += rows.back()[line].second + "\n";
  }
  return table;
}

Estimate RecoveryRate(std::span<const Episode> without, std::span<const Episode> with,
                      double success_threshold, const BootstrapOptions& bootstrap) {
  const auto slipped = ByAttempt(with);
  struct Successes {
    double without = 0, with = 0;
    int pairs = 0;
  };
  std::map<int, Successes> tasks;
  for (const Episode& episode : without) {
    const auto found = slipped.find(IdOf(episode));
    if (found == slipped.end() || !HasResult(found->second->end)) continue;
    if (!HasResult(episode.end)) continue;
    Successes& task = tasks[episode.task_id];
    ++task.pairs;
    task.without += IsSuccess(episode, success_threshold);
    task.with += IsSuccess(*found->second, success_threshold);
  }
  std::vector<double> shares_with, shares_without;
  for (const auto& [id, task] : tasks) {
    shares_with.push_back(task.with / task.pairs);
    shares_without.push_back(task.without / task.pairs);
  }
  return BootstrapRatio(shares_with, shares_without, bootstrap);
}

std::optional<SlipComparison> CompareSlips(std::span<const Episode> a, std::span<const Episode> b,
                                           const std::string& options_a,
                                           const std::string& options_b,
                                           const SlipMetricOptions& options) {
  const WithoutSlips of_a(options_a), of_b(options_b);
  if (!of_a.has_slips && !of_b.has_slips) return std::nullopt;
  SlipComparison comparison{.a = {MeasureAsPlayed(a, of_a.options, options), CountResults(a)},
                            .b = {MeasureAsPlayed(b, of_b.options, options), CountResults(b)},
                            .window = options.window};
  if (of_a.has_slips && of_b.has_slips) {
    comparison.why_none = "both have slips";
  } else if (of_a.options != of_b.options) {
    comparison.why_none = "they differ in more than the slips";
  } else {
    comparison.recovery_rate = RecoveryRate(of_a.has_slips ? b : a, of_a.has_slips ? a : b,
                                            options.success_threshold, options.bootstrap);
    CountKept(of_a.has_slips ? b : a, of_a.has_slips ? a : b, options.success_threshold,
              comparison);
    if (comparison.recovery_rate.tasks == 0) {
      comparison.why_none = "no episode without slips succeeded";
    }
  }
  return comparison;
}

std::string SlipComparisonTable(const SlipComparison& c) {
  std::string table = SlipTable(std::array{c.a, c.b}, c.window);
  const std::string rate =
      c.why_none.empty() ? Text(c.recovery_rate, true) : fmt::format("- ({})", c.why_none);
  table += fmt::format("{:<20}{}\n", "recovery rate", rate);
  return table + fmt::format("{:<20}{}\n", "kept successes", OfAll(c.kept, c.at_stake));
}

nlohmann::ordered_json SlipComparisonJson(const SlipComparison& comparison) {
  return {{"a", SlipJson(comparison.a.metrics, comparison.window)},
          {"b", SlipJson(comparison.b.metrics, comparison.window)},
          {"recovery_rate", ToJson(comparison.recovery_rate)},
          {"why_none", comparison.why_none},
          {"at_stake", comparison.at_stake},
          {"kept", comparison.kept}};
}

}  // namespace agentr
