// What every job writes beside its results: run.json, the record of its runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "clients/language_model.h"
#include "clients/env/protocol.h"
#include "common/error.h"
#include "rollout/run_report.h"

namespace agentr {

// A model's name as the name of a folder: slashes replaced, and not hidden.
std::string FolderName(std::string model_name);

// Adds `run` to `folder`/run.json, which several processes may share. Throws FatalError(kFile).
void AppendToRunFile(const std::filesystem::path& folder, nlohmann::ordered_json run);

// Writes `folder`/resolved.toml. Throws FatalError(kFile).
void WriteResolved(const std::filesystem::path& folder, const std::string& toml);

nlohmann::ordered_json ToJson(const ExecutionStats& stats);
nlohmann::ordered_json ToJson(const ServerVersion& server);
nlohmann::ordered_json ToJson(const RunReport& report);

// Prints "3 trees written, 2 were there already, 0 failed; done in 0:04" to stdout, without an end
// of line. `what`: "trees written"; `doing`: "being searched".
void PrintOutcome(const RunReport& report, size_t failed, const char* what, const char* doing);

// What a run's end is worth to its caller.
ExitCode ExitCodeOf(bool interrupted, bool gave_up, bool anything_failed);

// Count per second; 0 for no time.
double PerSecond(int64_t count, double wall_s);

// Prints the share of cached prompt tokens, and new tokens per second, to stdout.
void PrintTokens(const Usage& usage, double wall_s);

}  // namespace agentr
