// The metrics of an evaluation as text. Nothing here depends on time or on the order of the
// episodes, so a resumed run writes the same bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "eval/metrics.h"

namespace agentr {

// A table for people: one line per number, intervals in brackets. `asked_for`: number of requested
// episodes. If fewer have a result, the table says so, because results of short episodes come first
// and bias the numbers.
std::string SummaryTable(const EvalMetrics& metrics, int64_t asked_for);

// summary.json: counts and sums, shares in [0, 1]; null for numbers that cannot be computed. It
// leaves out cached tokens and retries, which depend on what else ran at the same time.
nlohmann::ordered_json SummaryJson(const EvalMetrics& metrics, int64_t asked_for);

// summary.csv: a header and a line per task, by task id (RFC 4180, lines end in "\n"). Columns:
// task, attempts, errors, mean_reward, successes, mean_steps (empty if no attempt has a result),
// rewards and ends (by attempt, separated by spaces; the reward of an error is "-"), error (the
// error messages, separated by "; ").
std::string SummaryCsv(std::span<const Episode> episodes, const MetricOptions& options);

// "0.642 [0.601, 0.683]"; with `percent` "64.2 % [60.1, 68.3]"; "-" if nothing can be estimated.
std::string Text(const Estimate& estimate, bool percent = false);

nlohmann::ordered_json ToJson(const Estimate& estimate);

}  // namespace agentr
