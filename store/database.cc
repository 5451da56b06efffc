#include "store/database.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "clients/http/retry.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/interrupt.h"
#include "common/random.h"
#include "common/text.h"
#include "store/migrations.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

// SQLSTATEs, appendix A of PostgreSQL's manual.
constexpr std::string_view kDiskFull = "53100";
constexpr std::string_view kNoPrivilege = "42501";
constexpr std::array<std::string_view, 2> kDamaged = {"XX001", "XX002"};

// Pauses that grow from a tenth of a second to five seconds.
RetryPolicy Pauses() {
  RetryPolicy policy;
  policy.cap_s = 5;
  return policy;
}

FatalError CannotOpen(const SqlError& error) {
  const std::string what = EscapeControls(error.what());
  if (error.state() == kNoPrivilege) {
    return FatalError(
        ExitCode::kUsage,
        fmt::format("--store: the tables of agentr cannot be made or used: {}; give the user the "
                    "right to (GRANT CREATE ON DATABASE … TO …), or, where another user made "
                    "them: GRANT USAGE ON SCHEMA agentr, and SELECT, INSERT, UPDATE ON ALL TABLES "
                    "IN SCHEMA agentr TO …",
                    what));
  }
  // Undefined and doubled names: there are tables of these names, but others than ours.
  if (error.state().starts_with("42")) {
    return FatalError(
        ExitCode::kUsage,
        fmt::format(
            "--store: the database has a schema \"agentr\" with tables of another program "
            "or of another version: {}. Cure: give --store another database, or rename that "
            "schema (ALTER SCHEMA agentr RENAME TO …)",
            what));
  }
  return FatalError(ExitCode::kUnavailable,
                    fmt::format("--store: {}; check the address, the user and that the server runs "
                                "(psql with the same address connects to it)",
                                what));
}

PostgresLimits LimitsOf(const StoreOptions& options) {
  constexpr double kLeastSilence = 60;  // seconds; a statement may have to wait for another's lock
  return {std::max<double>(options.patience_s, kLeastSilence), options.stop_grace_s};
}

// The first connection of a program. Only a server that says that it is starting is waited for: any
// other failure is more likely a wrong address than an outage.
std::unique_ptr<PostgresConnection> Open(const StoreOptions& options) {
  const Clock::time_point begin = Clock::now();
  while (true) {
    try {
      auto connection = std::make_unique<PostgresConnection>(options.url, LimitsOf(options));
      Migrate(*connection);
      return connection;
    } catch (const SqlError& error) {
      const bool wait = !Interrupted() && SecondsSince(begin) < options.patience_s &&
                        IsStarting(options.url, LimitsOf(options));
      if (wait && Pauses().sleep(0.2)) continue;
      if (!Interrupted()) throw CannotOpen(error);
      throw FatalError(ExitCode::kInterrupted, "stopped while the database of --store was away");
    }
  }
}

[[noreturn]] void ThrowRefused(const std::string& place, const SqlError& error) {
  const std::string cure = error.state() == kDiskFull
                               ? "; make room on the server's disk, then run the same command again"
                               : "";
  const std::string message = fmt::format("the database {} refused a statement: {}{}", place,
                                          EscapeControls(error.what()), cure);
  if (std::ranges::find(kDamaged, error.state()) != kDamaged.end()) throw DamagedData(message);
  throw FatalError(ExitCode::kFile, message);
}

}  // namespace

Database::Database(const StoreOptions& options)
    : options_(options), connection_(Open(options)), place_(connection_->place()) {}

SqlRows Database::Query(const char* sql, const std::vector<SqlValue>& values, SqlFormat format) {
  const std::lock_guard lock(mutex_);
  if (given_up_) throw *given_up_;
  const Clock::time_point begin = Clock::now();
  for (int failures = 0;;) {
    try {
      SqlRows rows = QueryOnce(sql, values, format);
      if (failures > 0) {
        spdlog::info("connected to {} again after {:.1f} s", place_, SecondsSince(begin));
      }
      return rows;
    } catch (const SqlError& error) {
      // While there is no connection every failure is waited out: a server that restarts says many
      // things.
      if (connection_ != nullptr && !error.transient()) ThrowRefused(place_, error);
      connection_.reset();
      Wait(++failures, SecondsSince(begin), error.what());
    }
  }
}

SqlRows Database::QueryOnce(const char* sql, const std::vector<SqlValue>& values,
                            SqlFormat format) {
  if (connection_ == nullptr)
    connection_ = std::make_unique<PostgresConnection>(options_.url, LimitsOf(options_));
  return connection_->Query(sql, values, format);
}

void Database::Wait(int failures, double lost_for_s, const std::string& reason) {
  const std::string what = EscapeControls(reason);
  if (lost_for_s >= options_.patience_s) {
    given_up_.emplace(
        ExitCode::kUnavailable,
        fmt::format("the database {} has not answered for {} s (--store_patience): {}. Start it, "
                    "then run the same command again to continue",
                    place_, options_.patience_s, what));
    throw *given_up_;
  }
  if (failures == 1 && !Interrupted()) {
    spdlog::warn("the connection to {} was lost ({}); trying again for up to {} s", place_, what,
                 options_.patience_s);
  }
  RandomStream stream(static_cast<uint64_t>(Clock::now().time_since_epoch().count()));
  if (Pauses().sleep(BackoffSeconds(Pauses(), failures, 0, stream))) return;
  given_up_.emplace(ExitCode::kInterrupted,
                    fmt::format("stopped while the database {} was away", place_));
  throw *given_up_;
}

}  // namespace agentr
