#include "store/results.h"

#include <fmt/core.h>

#include <utility>

#include "common/error.h"
#include "store/blob.h"

namespace agentr {
namespace {

// `rows` as for Unpack.
std::string OnlyBlob(const SqlRows& rows, const std::string& what) {
  if (rows.size() > 0) return Unpack(rows, what);
  throw FatalError(ExitCode::kFile, fmt::format("{} has no result in the database", what));
}

std::string ReadResult(Database& database, int64_t run, int64_t key, const std::string& what) {
  const SqlRows rows = database.Query(
      "SELECT body, bytes::text, sha256 FROM agentr.task"
      " WHERE run = $1 AND key = $2 AND finished_at IS NOT NULL",
      {run, key}, SqlFormat::kBytes);
  return OnlyBlob(rows, what);
}

// The transaction that wrote the row of a task: another one means another result.
std::string RowVersion(Database& database, int64_t run, int64_t key) {
  const SqlRows rows =
      database.Query("SELECT xmin::text FROM agentr.task WHERE run = $1 AND key = $2", {run, key});
  return rows.size() > 0 ? std::string(rows.Text(0, 0)) : "";
}

// Forgets the result of a task, unless it has another one by now. Returns what to add to the
// message.
std::string SetFree(Database& database, int64_t run, int64_t key, const std::string& version) {
  try {
    database.Query(
        "UPDATE agentr.task SET worker = NULL, claimed_at = NULL, finished_at = NULL, body = NULL,"
        " bytes = NULL, sha256 = NULL, error = 'its result was damaged in the database'"
        " WHERE run = $1 AND key = $2 AND xmin::text = $3",
        {run, key, version});
  } catch (const FatalError& error) {
    if (error.code() != ExitCode::kFile) throw;
    return fmt::format(
        "; its task cannot be set free: {}. Restore the database, or make the "
        "results again under another --store_run",
        error.what());
  }
  return "; its task is free again: run the command that made it once more";
}

}  // namespace

std::optional<RunRecord> FindRun(Database& database, const RunKey& key) {
  const SqlRows rows = database.Query(
      "SELECT id, options FROM agentr.run WHERE kind = $1 AND name = $2", {key.kind, key.name});
  if (rows.size() == 0) return std::nullopt;
  return RunRecord{rows.Int(0, 0), std::string(rows.Text(0, 1))};
}

RunRecord FindOrMakeRun(Database& database, const RunKey& key, const std::string& options) {
  // Looked for first, because even an insertion that does nothing uses up a number.
  if (auto run = FindRun(database, key)) return *std::move(run);
  database.Query(
      "INSERT INTO agentr.run (kind, name, options) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      {key.kind, key.name, options});
  return FindRun(database, key).value();
}

std::vector<std::string> RunsOfKind(Database& database, const std::string& kind) {
  const SqlRows rows = database.Query(
      "SELECT name FROM agentr.run WHERE kind = $1 ORDER BY greatest(created_at,"
      " (SELECT max(seen_at) FROM agentr.worker WHERE worker.run = run.id)), id",
      {kind});
  std::vector<std::string> names;
  for (int row = 0; row < rows.size(); ++row) names.emplace_back(rows.Text(row, 0));
  return names;
}

std::vector<ResultHash> HashesOf(Database& database, int64_t run) {
  const SqlRows rows = database.Query(
      "SELECT key, sha256 FROM agentr.task WHERE run = $1 AND finished_at IS NOT NULL ORDER BY key",
      {run});
  std::vector<ResultHash> hashes;
  for (int row = 0; row < rows.size(); ++row) {
    hashes.push_back({rows.Int(row, 0), std::string(rows.Text(row, 1))});
  }
  return hashes;
}

std::string LoadResult(Database& database, int64_t run, int64_t key, const std::string& what) {
  std::string version;
  while (true) {
    try {
      return ReadResult(database, run, key, what);
    } catch (const DamagedData& error) {
      if (!version.empty()) throw DamagedData(error.what() + SetFree(database, run, key, version));
    }
    // Read again, because only what is damaged in this version may be forgotten.
    version = RowVersion(database, run, key);
  }
}

void StoreFile(Database& database, int64_t run, const std::string& name, std::string_view bytes) {
  Blob blob = Pack(bytes);
  database.Query(
      "INSERT INTO agentr.file (run, name, body, bytes, sha256) VALUES ($1, $2, $3, $4, $5)"
      " ON CONFLICT (run, name) DO UPDATE SET written_at = now(), body = EXCLUDED.body,"
      " bytes = EXCLUDED.bytes, sha256 = EXCLUDED.sha256",
      {run, name, SqlValue::Bytes(std::move(blob.body)), blob.bytes, blob.sha256});
}

std::vector<std::string> FilesOf(Database& database, int64_t run) {
  const SqlRows rows =
      database.Query("SELECT name FROM agentr.file WHERE run = $1 ORDER BY name", {run});
  std::vector<std::string> names;
  for (int row = 0; row < rows.size(); ++row) names.emplace_back(rows.Text(row, 0));
  return names;
}

std::string LoadFile(Database& database, int64_t run, const std::string& name,
                     const std::string& what) {
  try {
    const SqlRows rows = database.Query(
        "SELECT body, bytes::text, sha256 FROM agentr.file WHERE run = $1 AND name = $2",
        {run, name}, SqlFormat::kBytes);
    return OnlyBlob(rows, what);
  } catch (const DamagedData& error) {
    throw DamagedData(
        fmt::format("{}; path_collect --store writes the files of a run again", error.what()));
  }
}

}  // namespace agentr
