#include "rollout/run_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/progress.h"

namespace agentr {

nlohmann::ordered_json ToJson(const ServerVersion& server) {
  return {{"server", server.server},
          {"version", server.version},
          {"data_hash", server.data_hash},
          {"extensions", server.extensions}};
}

nlohmann::ordered_json ToJson(const RunReport& report) {
  nlohmann::ordered_json model = FieldsToJson(kUsageFields, report.usage);
  model["tokens_per_s"] = PerSecond(report.usage.completion_tokens, report.wall_s);
  if (report.cost > 0) model["cost"] = report.cost;
  nlohmann::ordered_json json = {{"finished", report.finished},
                                 {"already_there", report.skipped},
                                 {"taken_by_another_run", report.taken},
                                 {"gave_up", report.gave_up},
                                 {"interrupted", report.interrupted},
                                 {"wall_s", report.wall_s},
                                 {"model", std::move(model)},
                                 {"environment", FieldsToJson(kExecutionFields, report.execution)}};
  if (report.cut_turns > 0) json["cut_turns"] = report.cut_turns;
  return json;
}

void PrintOutcome(const RunReport& report, size_t failed, const char* what, const char* doing) {
  fmt::print("{} {}, {} existed already", report.finished, what, report.skipped);
  if (report.taken > 0) fmt::print(", {} are {} by another run", report.taken, doing);
  fmt::print(", {} failed; {} in {}", failed,
             report.malformed     ? "ended by a malformed reply"
             : report.gave_up     ? "gave up after too many failures in a row (--give_up_after)"
             : report.interrupted ? "stopped"
                                  : "done",
             FormatDuration(report.wall_s));
}

void PrintOddities(const RunReport& report, const char* again) {
  if (report.cut_turns > 0) {
    fmt::print(
        "{} responses were cut by the limit of tokens before an action and not executed; a larger "
        "--max_new_tokens lets the model finish\n",
        report.cut_turns);
  }
  if (report.execution.mismatches > 0) {
    fmt::print(
        "{} {} actions had other answers than the first time: the environment is not "
        "deterministic\n",
        report.execution.mismatches, again);
  }
}

ExitCode ExitCodeOf(const RunReport& report, bool anything_failed) {
  return ExitCodeOf(report.interrupted, report.gave_up || report.unreachable, anything_failed);
}

ExitCode ExitCodeOf(bool interrupted, bool gave_up, bool anything_failed) {
  if (interrupted) return ExitCode::kInterrupted;
  if (gave_up) return ExitCode::kUnavailable;
  return anything_failed ? ExitCode::kIncomplete : ExitCode::kOk;
}

double PerSecond(int64_t count, double wall_s) {
  return wall_s > 0 ? static_cast<double>(count) / wall_s : 0;
}

void PrintCost(const RunReport& report) {
  if (report.cost <= 0) return;
  fmt::print("cost {:.4f}: {} requests, {} prompt tokens, {} new tokens\n", report.cost,
             report.usage.requests, report.usage.prompt_tokens, report.usage.completion_tokens);
}

void PrintTokens(const Usage& usage, double wall_s) {
  const auto prompts = static_cast<double>(std::max<int64_t>(usage.prompt_tokens, 1));
  fmt::print("{} prompt tokens, {:.1f}% of them from the cache; {:.0f} new tokens/s\n",
             usage.prompt_tokens, 100 * static_cast<double>(usage.cached_tokens) / prompts,
             PerSecond(usage.completion_tokens, wall_s));
}

}  // namespace agentr
