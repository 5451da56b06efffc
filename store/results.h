// What the runs of a database have stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace agentr {

// Names a run in a database.
struct RunKey {
  std::string kind;  // of results: "trees", "episodes", "rows"
  std::string name;  // "webshop/planner"
};

// A run in the tables.
struct RunRecord {
  int64_t id = 0;
  std::string options;  // with which it was made
};

// All throw FatalError.

std::optional<RunRecord> FindRun(Database& database, const RunKey& key);

// The run, which is made with `options` if it is not there yet.
RunRecord FindOrMakeRun(Database& database, const RunKey& key, const std::string& options);

// The names of the runs of a kind, the one that was worked on last at the end.
std::vector<std::string> RunsOfKind(Database& database, const std::string& kind);

// A done task and the SHA-256 of its result.
struct ResultHash {
  int64_t key = 0;
  std::string sha256;
};

// Of all done tasks of a run, by key.
std::vector<ResultHash> HashesOf(Database& database, int64_t run);

// The result of a done task; kFile if there is none. If it is damaged, the task is set free, so
// that the next run makes it again, and DamagedData says so. `what` names it in messages.
std::string LoadResult(Database& database, int64_t run, int64_t key, const std::string& what);

// Writes a file of a run, in place of an earlier one of that name.
void StoreFile(Database& database, int64_t run, const std::string& name, std::string_view bytes);

// The names of the files of a run.
std::vector<std::string> FilesOf(Database& database, int64_t run);

// kFile if there is none, DamagedData if it is damaged.
std::string LoadFile(Database& database, int64_t run, const std::string& name,
                     const std::string& what);

}  // namespace agentr
