// An evaluation's numbers as text. Nothing here depends on time or on the order of the episodes, so
// a run that was resumed writes the same bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "eval/metrics.h"

namespace agentr {

// For people: a line per number, intervals in brackets. `asked_for`: episodes; where fewer have a
// result the table says so, since those that end soon are among them first.
std::string SummaryTable(const EvalMetrics& metrics, int64_t asked_for);

// summary.json: counts and sums as they are, shares in [0, 1]; null for what there is nothing to
// compute from. Without what depends on what else ran at the time: tokens from the cache, retries.
nlohmann::ordered_json SummaryJson(const EvalMetrics& metrics, int64_t asked_for);

// summary.csv: a header and a line per task, by task id (RFC 4180, lines end in "\n"). Columns:
// task, attempts, errors, mean_reward, successes, mean_steps (empty if no attempt has a result),
// rewards and ends (by attempt, separated by spaces; the reward of an error is "-"), error (the
// words of the faults, separated by "; ").
std::string SummaryCsv(std::span<const Episode> episodes, const MetricOptions& options);

// "0.642 [0.601, 0.683]"; with `percent` "64.2 % [60.1, 68.3]"; "-" where nothing is to be
// estimated.
std::string Text(const Estimate& estimate, bool percent = false);

nlohmann::ordered_json ToJson(const Estimate& estimate);

}  // namespace agentr
