// What the runs of a database have done, are doing and have failed to do: the job of store_status.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/secret.h"
#include "store/database.h"

namespace agentr {

// A worker whose lease holds, or all others of a run together.
struct WorkerStatus {
  std::string name;  // "host:pid"; "others" for those that have ended or are silent
  int64_t workers = 1;
  int64_t done = 0;
  int64_t running = 0;  // with the tasks that it has claimed ahead
  double seen_s = 0;    // seconds since its last sign of life
};

struct RunStatus {
  std::string kind;
  std::string name;
  int64_t tasks = 0;  // done + running + failed + waiting
  int64_t done = 0;
  int64_t running = 0;
  int64_t failed = 0;  // at the last try, and not being tried now
  int64_t waiting = 0;
  double rate = 0;  // tasks done per second in the last five minutes, or since the workers started
  std::optional<double> eta_s = {};  // for running and waiting tasks; none while nothing is done
  std::string last_error = "";       // of one of the failed tasks
  std::vector<WorkerStatus> workers = {};
};

// The runs, oldest first; `only`: the name of the runs to show, empty for all. Throws FatalError.
std::vector<RunStatus> ReadStatus(Database& database, const std::string& only);

std::string StatusTable(const std::vector<RunStatus>& runs);
nlohmann::ordered_json ToJson(const std::vector<RunStatus>& runs);

struct StoreStatusOptions {
  Secret url = "";
  std::string run = "";
  bool json = false;
  bool check = false;         // read all results instead
  double watch_s = 0;         // 0: once
  std::string files_to = "";  // a folder for copies of the runs' files; empty: none
};

class OptionSet;

void Declare(OptionSet& set, StoreStatusOptions& options);

// Copies the files of the runs, such as training rows, to FOLDER/RUN/FILE. Returns the number of
// those that could not be copied, because of their name or because they are damaged; they are
// logged, and the others are copied. Throws FatalError if there is none, or if the database cannot
// be reached.
int CopyFiles(Database& database, const std::string& only, const std::string& folder);

// Prints the status to stdout, with watch_s again and again until a signal. Throws FatalError.
ExitCode StoreStatus(const StoreStatusOptions& options);

}  // namespace agentr
