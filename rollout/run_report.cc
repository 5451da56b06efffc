#include "rollout/run_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/progress.h"

namespace agentr {

nlohmann::ordered_json ToJson(const ExecutionStats& s) {
  return {{"sessions_opened", s.opens},
          {"resets", s.resets},
          {"steps", s.steps},
          {"replayed_steps", s.replays},
          {"expansions", s.expansions},
          {"cache_hits", s.cache_hits},
          {"mismatches", s.mismatches},
          {"faults_made_up_for", s.faults},
          {"min_replay_calls", s.min_replay_calls},
          {"unchanged_bound", s.unchanged_bound}};
}

nlohmann::ordered_json ToJson(const ServerVersion& server) {
  return {{"server", server.server},
          {"version", server.version},
          {"data_hash", server.data_hash},
          {"extensions", server.extensions}};
}

nlohmann::ordered_json ToJson(const RunReport& report) {
  const Usage& usage = report.usage;
  return {{"finished", report.finished},
          {"already_there", report.skipped},
          {"taken_by_another_run", report.taken},
          {"gave_up", report.gave_up},
          {"interrupted", report.interrupted},
          {"wall_s", report.wall_s},
          {"model",
           {{"requests", usage.requests},
            {"retries", usage.retries},
            {"prompt_tokens", usage.prompt_tokens},
            {"cached_tokens", usage.cached_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"reused_turns", usage.reused_turns},
            {"reencoded_turns", usage.reencoded_turns},
            {"tokens_per_s", PerSecond(usage.completion_tokens, report.wall_s)}}},
          {"environment", ToJson(report.execution)}};
}

void PrintOutcome(const RunReport& report, size_t failed, const char* what, const char* doing) {
  fmt::print("{} {}, {} were there already", report.finished, what, report.skipped);
  if (report.taken > 0) fmt::print(", {} are {} by another run", report.taken, doing);
  fmt::print(", {} failed; {} in {}", failed,
             report.gave_up       ? "gave up after too many failures in a row (--give_up_after)"
             : report.interrupted ? "stopped"
                                  : "done",
             FormatDuration(report.wall_s));
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

void PrintTokens(const Usage& usage, double wall_s) {
  const auto prompts = static_cast<double>(std::max<int64_t>(usage.prompt_tokens, 1));
  fmt::print("{} prompt tokens, {:.1f}% of them from the cache; {:.0f} new tokens/s\n",
             usage.prompt_tokens, 100 * static_cast<double>(usage.cached_tokens) / prompts,
             PerSecond(usage.completion_tokens, wall_s));
}

}  // namespace agentr
