// Reads every result and file of a database, for store_status --check.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "store/database.h"

namespace agentr {

struct RunCheck {
  std::string kind;
  std::string name;
  int64_t results = 0;  // of done tasks
  int64_t files = 0;
  std::vector<std::string> damaged = {};  // what is damaged, a message for each
};

// The runs, oldest first; `only`: the name of the runs to read, empty for all. The tasks of damaged
// results are set free (LoadResult). Throws FatalError, kInterrupted when the program is stopped.
std::vector<RunCheck> CheckRuns(Database& database, const std::string& only);

std::string CheckTable(const std::vector<RunCheck>& runs);
nlohmann::ordered_json ToJson(const std::vector<RunCheck>& runs);

// kIncomplete if something is damaged.
ExitCode ExitCodeOf(const std::vector<RunCheck>& runs);

}  // namespace agentr
