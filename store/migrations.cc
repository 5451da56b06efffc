#include "store/migrations.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "common/error.h"

namespace agentr {
namespace {

// Step n leads from version n to n + 1. A released step never changes.
constexpr std::array<const char*, 1> kSteps = {R"(
CREATE TABLE agentr.run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  name text NOT NULL,
  options text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (kind, name));

CREATE TABLE agentr.worker (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run bigint NOT NULL REFERENCES agentr.run ON DELETE CASCADE,
  name text NOT NULL,
  lease interval NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz);

-- A server that has just started gives each worker the time of a lease to come back.
CREATE VIEW agentr.live_worker AS
  SELECT * FROM agentr.worker
  WHERE ended_at IS NULL AND greatest(seen_at, pg_postmaster_start_time()) + lease > now();

CREATE TABLE agentr.task (
  run bigint NOT NULL REFERENCES agentr.run ON DELETE CASCADE,
  key bigint NOT NULL,
  worker bigint,
  claimed_at timestamptz,
  finished_at timestamptz,
  error text,
  body bytea,
  bytes bigint,
  sha256 text,
  PRIMARY KEY (run, key));
ALTER TABLE agentr.task ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE agentr.file (
  run bigint NOT NULL REFERENCES agentr.run ON DELETE CASCADE,
  name text NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  body bytea NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  PRIMARY KEY (run, name));
ALTER TABLE agentr.file ALTER COLUMN body SET STORAGE EXTERNAL;
)"};

constexpr auto kNewest = static_cast<int64_t>(kSteps.size());

// The number of steps that were taken.
int64_t VersionOf(PostgresConnection& connection) {
  if (connection.Query("SELECT to_regclass('agentr.schema_version')").IsNull(0, 0)) return 0;
  return connection.Query("SELECT max(version) FROM agentr.schema_version").Int(0, 0);
}

// The steps from `version` on, in one transaction.
void TakeSteps(PostgresConnection& connection, int64_t version) {
  std::string statements;
  if (version == 0) {
    statements =
        "CREATE SCHEMA IF NOT EXISTS agentr;"
        "CREATE TABLE agentr.schema_version (version bigint PRIMARY KEY,"
        " taken_at timestamptz NOT NULL DEFAULT now());";
  }
  for (int64_t step = version; step < kNewest; ++step) {
    statements += kSteps[static_cast<size_t>(step)];
    statements += fmt::format("INSERT INTO agentr.schema_version VALUES ({});", step + 1);
  }
  if (!statements.empty()) connection.Execute(statements);
}

}  // namespace

void Migrate(PostgresConnection& connection) {
  if (VersionOf(connection) < kNewest) {
    // Any number, as long as every program takes the same: it excludes other migrations.
    connection.Query("SELECT pg_advisory_lock(728100)");
    TakeSteps(connection, VersionOf(connection));  // another program may have taken them meanwhile
    connection.Query("SELECT pg_advisory_unlock(728100)");
  }
  const int64_t version = VersionOf(connection);
  if (version <= kNewest) return;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("the tables in {} are of version {}, made by a newer agentr, and "
                               "this one knows version {}: use the newer one",
                               connection.place(), version, kNewest));
}

}  // namespace agentr
