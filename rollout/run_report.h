// What every run over many tasks reports: of searches, of episodes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "clients/env/protocol.h"
#include "clients/language_model.h"
#include "common/error.h"
#include "rollout/executor.h"

namespace agentr {

// Counts cover the failed items too.
struct RunReport {
  int finished = 0;          // items written
  int skipped = 0;           // that were there already
  int taken = 0;             // that another run was working on
  bool gave_up = false;      // too many failures in a row
  bool unreachable = false;  // nothing was finished, since a server did not answer
  bool interrupted = false;  // stopped from outside; not all items were tried
  Usage usage;
  ExecutionStats execution;
  double wall_s = 0;
};

nlohmann::ordered_json ToJson(const ExecutionStats& stats);
nlohmann::ordered_json ToJson(const ServerVersion& server);
nlohmann::ordered_json ToJson(const RunReport& report);

// Prints "3 trees written, 2 were there already, 0 failed; done in 0:04" to stdout, without an end
// of line. `what`: "trees written"; `doing`: "being searched".
void PrintOutcome(const RunReport& report, size_t failed, const char* what, const char* doing);

// What a run's end is worth to its caller.
ExitCode ExitCodeOf(const RunReport& report, bool anything_failed);
ExitCode ExitCodeOf(bool interrupted, bool gave_up, bool anything_failed);

// Count per second; 0 for no time.
double PerSecond(int64_t count, double wall_s);

// Prints the share of cached prompt tokens, and new tokens per second, to stdout.
void PrintTokens(const Usage& usage, double wall_s);

}  // namespace agentr
