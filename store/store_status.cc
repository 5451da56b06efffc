#include "store/store_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "clients/http/retry.h"
#include "common/file.h"
#include "common/interrupt.h"
#include "common/json_depth.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/text.h"
#include "store/results.h"
#include "store/store_check.h"

namespace agentr {
namespace {

// All runs in one statement, so that the counts of a run and of its workers are of one moment.
// A task is running if a worker whose lease holds has it. The rate counts what was done since the
// first of the live workers started, at most since five minutes ago. The workers are a JSON array:
// one for each live worker, and one for all others together.
constexpr const char* kRuns = R"(
WITH span AS (
  SELECT run, greatest(min(started_at), now() - interval '5 minutes') AS begin
  FROM agentr.live_worker GROUP BY run),
worker_counts AS (
  SELECT worker.run, live.id, coalesce(live.name, 'others') AS name,
    count(DISTINCT worker.id) AS workers, count(task.finished_at) AS done,
    count(task.key) FILTER (WHERE task.finished_at IS NULL AND live.id IS NOT NULL) AS running,
    extract(epoch FROM now() - max(worker.seen_at)) AS seen_s
  FROM agentr.worker LEFT JOIN agentr.live_worker AS live ON live.id = worker.id
  LEFT JOIN agentr.task ON task.run = worker.run AND task.worker = worker.id
  GROUP BY worker.run, live.id, live.name)
SELECT run.kind, run.name, count(task.key),
  count(task.finished_at),
  count(*) FILTER (WHERE task.finished_at IS NULL AND live.id IS NOT NULL),
  count(*) FILTER (WHERE task.finished_at IS NULL AND live.id IS NULL AND task.error IS NOT NULL),
  coalesce(count(*) FILTER (WHERE task.finished_at > span.begin)
    / greatest(extract(epoch FROM now() - min(span.begin)), 0.001), 0),
  min(task.error) FILTER (WHERE task.finished_at IS NULL AND live.id IS NULL),
  coalesce((SELECT json_agg(json_build_object('name', name, 'workers', workers, 'done', done,
    'running', running, 'seen_s', seen_s) ORDER BY id NULLS LAST)
    FROM worker_counts WHERE worker_counts.run = run.id), '[]')
FROM agentr.run LEFT JOIN agentr.task ON task.run = run.id
LEFT JOIN agentr.live_worker AS live ON live.id = task.worker
LEFT JOIN span ON span.run = run.id
WHERE $1 = '' OR run.name = $1
GROUP BY run.id ORDER BY run.id)";

std::vector<WorkerStatus> ReadWorkers(std::string_view array) {
  std::vector<WorkerStatus> workers;
  for (const nlohmann::json& worker : nlohmann::json::parse(array)) {
    workers.push_back(
        {worker["name"], worker["workers"], worker["done"], worker["running"], worker["seen_s"]});
  }
  return workers;
}

std::string Text(const WorkerStatus& worker) {
  const std::string name = EscapeControls(worker.name);
  if (worker.name == "others") {
    return fmt::format("  {} other worker{}, ended or silent: {} done\n", worker.workers,
                       worker.workers == 1 ? "" : "s", worker.done);
  }
  return fmt::format("  {}: {} done, {} running; seen {:.0f} s ago\n", name, worker.done,
                     worker.running, worker.seen_s);
}

}  // namespace

std::vector<RunStatus> ReadStatus(Database& database, const std::string& only) {
  const SqlRows rows = database.Query(kRuns, {only});
  std::vector<RunStatus> runs;
  for (int row = 0; row < rows.size(); ++row) {
    RunStatus run{std::string(rows.Text(row, 0)), std::string(rows.Text(row, 1))};
    run.tasks = rows.Int(row, 2);
    run.done = rows.Int(row, 3);
    run.running = rows.Int(row, 4);
    run.failed = rows.Int(row, 5);
    run.waiting = run.tasks - run.done - run.running - run.failed;
    run.rate = rows.Double(row, 6);
    run.last_error = rows.Text(row, 7);
    if (run.rate > 0) run.eta_s = static_cast<double>(run.running + run.waiting) / run.rate;
    run.workers = ReadWorkers(rows.Text(row, 8));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string StatusTable(const std::vector<RunStatus>& runs) {
  constexpr const char* kLine = "{:<32} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9}\n";
  std::string text =
      fmt::format(kLine, "run", "tasks", "done", "running", "failed", "waiting", "rate", "ETA");
  for (const RunStatus& run : runs) {
    const std::string name = EscapeControls(run.kind + " " + run.name);
    text += fmt::format(kLine, name, run.tasks, run.done, run.running, run.failed, run.waiting,
                        fmt::format("{:.3g}/s", run.rate),
                        run.eta_s ? FormatDuration(*run.eta_s) : "-");
    for (const WorkerStatus& worker : run.workers) text += Text(worker);
    if (run.failed > 0) {
      text += fmt::format("  failed, for example: {}\n", EscapeControls(run.last_error));
    }
  }
  return text;
}

nlohmann::ordered_json ToJson(const std::vector<RunStatus>& runs) {
  auto json = nlohmann::ordered_json::array();
  for (const RunStatus& run : runs) {
    auto workers = nlohmann::ordered_json::array();
    for (const WorkerStatus& worker : run.workers) {
      workers.push_back({{"name", worker.name},
                         {"workers", worker.workers},
                         {"done", worker.done},
                         {"running", worker.running},
                         {"seen_s", worker.seen_s}});
    }
    json.push_back({{"kind", run.kind},
                    {"name", run.name},
                    {"tasks", run.tasks},
                    {"done", run.done},
                    {"running", run.running},
                    {"failed", run.failed},
                    {"waiting", run.waiting},
                    {"rate", run.rate},
                    {"eta_s", run.eta_s ? nlohmann::ordered_json(*run.eta_s) : nullptr},
                    {"last_error", run.last_error},
                    {"workers", std::move(workers)}});
  }
  return json;
}

void Declare(OptionSet& set, StoreStatusOptions& o) {
  set.Add("--store", o.url, "The database: postgresql://USER@HOST:PORT/DATABASE", "AGENTR_STORE")
      .NotEmpty()
      .OnlyOnCommandLine()
      .OnlyOutput();
  set.Add("--store_run", o.run, "Show the runs of this name only").OnlyOutput();
  set.Add("--files_to", o.files_to,
          "Instead copy the files of the runs, such as training rows, to FILES_TO/RUN")
      .OnlyOutput();
  set.AddSwitch("--check", o.check,
                "Instead read all results and files, and report damaged ones; their tasks are set "
                "free, so that the next run makes them again")
      .OnlyOutput();
  set.AddSwitch("--json", o.json, "Print JSON").OnlyOutput();
  set.Add("--watch", o.watch_s, "Print again every so many seconds, until interrupted; 0: once")
      .Min(0)
      .OnlyOutput();
}

namespace {

// Copies the file `name` of a run to BASE/RUN/NAME. Throws FatalError.
void CopyFile(Database& database, int64_t id, const std::string& run, const std::string& name,
              const std::filesystem::path& base) {
  const auto path = (base / run / name).lexically_normal();
  const std::filesystem::path inside = path.lexically_relative(base);
  if (inside.empty() || *inside.begin() == "..") {
    throw FatalError(ExitCode::kFile,
                     fmt::format("the file {} of run {} would lie outside of {}",
                                 EscapeControls(name), EscapeControls(run), base.string()));
  }
  WriteFileAtomically(path, LoadFile(database, id, name, run + "/" + name));
  fmt::print("{}\n", EscapeControls(path.string()));
}

}  // namespace

int CopyFiles(Database& database, const std::string& only, const std::string& folder) {
  const SqlRows rows = database.Query(
      "SELECT DISTINCT run.id, run.name FROM agentr.file JOIN agentr.run ON run.id = file.run"
      " WHERE $1 = '' OR run.name = $1",
      {only});
  if (rows.size() == 0) {
    throw FatalError(ExitCode::kFile,
                     "there is no file to copy: path_collect --store writes those of a run");
  }
  const std::filesystem::path base = std::filesystem::path(folder).lexically_normal();
  int failed = 0;
  for (int row = 0; row < rows.size(); ++row) {
    const std::string run(rows.Text(row, 1));
    for (const std::string& name : FilesOf(database, rows.Int(row, 0))) {
      try {
        CopyFile(database, rows.Int(row, 0), run, name, base);
      } catch (const FatalError& error) {
        if (error.code() != ExitCode::kFile) throw;  // no other file could be copied either
        spdlog::error("{}; it is not copied", EscapeControls(error.what()));
        ++failed;
      }
    }
  }
  return failed;
}

// Throws FatalError(kUsage) if there are runs, but none of this name.
void CheckRun(Database& database, const std::string& name) {
  if (name.empty() || !ReadStatus(database, name).empty()) return;
  std::set<std::string> names;
  for (const RunStatus& run : ReadStatus(database, "")) names.insert(EscapeControls(run.name));
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("--store_run {}: the database has no run of this name; {}", name,
                  names.empty() ? "it has no runs yet"
                                : fmt::format("its runs are {}", fmt::join(names, ", "))));
}

ExitCode StoreStatus(const StoreStatusOptions& options) {
  if (options.url.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "which database? Give --store postgresql://USER@HOST:PORT/DATABASE, or set "
                     "AGENTR_STORE");
  }
  if (options.check && (options.watch_s > 0 || !options.files_to.empty())) {
    throw FatalError(ExitCode::kUsage, "--check goes with neither --watch nor --files_to");
  }
  const std::atomic<bool>& stop = StopOnSignal();
  StoreOptions store;
  store.url = options.url;
  store.stop_grace_s = 0.5;  // it stores nothing
  Database database(store);
  // A run that is watched may come later.
  if (options.watch_s <= 0) CheckRun(database, options.run);
  if (!options.files_to.empty()) {
    const int failed = CopyFiles(database, options.run, options.files_to);
    return failed == 0 ? ExitCode::kOk : ExitCode::kIncomplete;
  }
  if (options.check) {
    const std::vector<RunCheck> runs = CheckRuns(database, options.run);
    fmt::print("{}", options.json ? DumpJson(ToJson(runs)) + "\n" : CheckTable(runs));
    return ExitCodeOf(runs);
  }
  const bool redraw = options.watch_s > 0 && !options.json && ::isatty(STDOUT_FILENO) != 0;
  while (true) {
    const std::vector<RunStatus> runs = ReadStatus(database, options.run);
    if (redraw) fmt::print("\x1b[H\x1b[2J");
    fmt::print("{}", options.json ? ToJson(runs).dump() + "\n" : StatusTable(runs));
    std::fflush(stdout);
    if (options.watch_s <= 0 || !SleepUnless(stop)(options.watch_s)) return ExitCode::kOk;
  }
}

}  // namespace agentr
