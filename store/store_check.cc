#include "store/store_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/interrupt.h"
#include "common/progress.h"
#include "common/text.h"
#include "store/results.h"

namespace agentr {
namespace {

// Reads the results and files of one run.
class Checker {
 public:
  Checker(Database& database, Progress& progress, RunCheck& check)
      : database_(database), progress_(progress), check_(check) {}

  void Read(int64_t run) {
    for (const ResultHash& result : HashesOf(database_, run)) {
      ++check_.results;
      Note([&] { LoadResult(database_, run, result.key, fmt::format("task {}", result.key)); });
    }
    for (const std::string& name : FilesOf(database_, run)) {
      ++check_.files;
      Note([&] { LoadFile(database_, run, name, fmt::format("file {}", EscapeControls(name))); });
    }
  }

 private:
  template <typename Load>
  void Note(const Load& load) {
    if (Interrupted()) throw FatalError(ExitCode::kInterrupted, "stopped before all was read");
    try {
      load();
      progress_.Done();
    } catch (const DamagedData& error) {
      check_.damaged.emplace_back(error.what());
      progress_.Failed();
    }
  }

  Database& database_;
  Progress& progress_;
  RunCheck& check_;
};

}  // namespace

std::vector<RunCheck> CheckRuns(Database& database, const std::string& only) {
  const SqlRows rows = database.Query(
      "SELECT id, kind, name, (SELECT count(finished_at) FROM agentr.task WHERE task.run = run.id)"
      " + (SELECT count(*) FROM agentr.file WHERE file.run = run.id)"
      " FROM agentr.run WHERE $1 = '' OR name = $1 ORDER BY id",
      {only});
  int64_t total = 0;
  for (int row = 0; row < rows.size(); ++row) total += rows.Int(row, 3);
  Progress progress("results", "", total);
  std::vector<RunCheck> runs;
  for (int row = 0; row < rows.size(); ++row) {
    RunCheck& check =
        runs.emplace_back(RunCheck{std::string(rows.Text(row, 1)), std::string(rows.Text(row, 2))});
    Checker(database, progress, check).Read(rows.Int(row, 0));
  }
  return runs;
}

std::string CheckTable(const std::vector<RunCheck>& runs) {
  constexpr const char* kLine = "{:<32} {:>9} {:>9} {:>9}\n";
  std::string text = fmt::format(kLine, "run", "results", "files", "damaged");
  for (const RunCheck& run : runs) {
    text += fmt::format(kLine, EscapeControls(run.kind + " " + run.name), run.results, run.files,
                        run.damaged.size());
    for (const std::string& message : run.damaged) text += "  " + message + "\n";
  }
  return text;
}

nlohmann::ordered_json ToJson(const std::vector<RunCheck>& runs) {
  auto json = nlohmann::ordered_json::array();
  for (const RunCheck& run : runs) {
    json.push_back({{"kind", run.kind},
                    {"name", run.name},
                    {"results", run.results},
                    {"files", run.files},
                    {"damaged", run.damaged}});
  }
  return json;
}

ExitCode ExitCodeOf(const std::vector<RunCheck>& runs) {
  const bool damaged =
      std::ranges::any_of(runs, [](const RunCheck& run) { return !run.damaged.empty(); });
  return damaged ? ExitCode::kIncomplete : ExitCode::kOk;
}

}  // namespace agentr
