// The report of a run over many tasks, common to search and evaluation.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "clients/env/protocol.h"
#include "clients/language_model.h"
#include "common/error.h"
#include "rollout/executor.h"

namespace agentr {

// Counts include the failed items.
struct RunReport {
  int finished = 0;          // items written
  int skipped = 0;           // items that existed already
  int taken = 0;             // items on which another run was working
  bool gave_up = false;      // too many failures in a row, or a malformed reply
  bool malformed = false;    // a server's reply was malformed (ErrorKind::kMalformed)
  bool unreachable = false;  // nothing was finished because a server did not answer
  bool interrupted = false;  // stopped from outside; not all items were tried
  int64_t cut_turns = 0;     // responses that were cut before an action (rollout/cut_turns.h)
  Usage usage;
  double cost = 0;  // of the usage, in the money of --llm_price; 0 without a price
  ExecutionStats execution;
  double wall_s = 0;
};

nlohmann::ordered_json ToJson(const ServerVersion& server);
nlohmann::ordered_json ToJson(const RunReport& report);

// Prints "3 trees written, 2 existed already, 0 failed; done in 0:04" to stdout, without a line
// end. `what`: "trees written"; `doing`: "being searched".
void PrintOutcome(const RunReport& report, size_t failed, const char* what, const char* doing);

// Prints to stdout how many responses were cut, and the cure, and how many `again` actions
// ("replayed") had other answers than the first time; nothing of what did not happen.
void PrintOddities(const RunReport& report, const char* again);

// The exit code for the end of a run.
ExitCode ExitCodeOf(const RunReport& report, bool anything_failed);
ExitCode ExitCodeOf(bool interrupted, bool gave_up, bool anything_failed);

// Count per second; 0 if `wall_s` is 0.
double PerSecond(int64_t count, double wall_s);

// Prints the cost if there is one, and what the run used, to stdout.
void PrintCost(const RunReport& report);

// Prints the share of cached prompt tokens, and new tokens per second, to stdout.
void PrintTokens(const Usage& usage, double wall_s);

}  // namespace agentr
