#include "store/worker_lease.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "common/error.h"
#include "common/stoppable_sleep.h"

namespace agentr {
namespace {

// "host:pid".
std::string NameOfThisProcess() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}:{}", host.data(), ::getpid());
}

int64_t Enter(Database& database, int64_t run, int lease_s) {
  const SqlRows rows = database.Query(
      "INSERT INTO agentr.worker (run, name, lease)"
      " VALUES ($1, $2, make_interval(secs => $3)) RETURNING id",
      {run, NameOfThisProcess(), lease_s});
  return rows.Int(0, 0);
}

StoreOptions WithoutPatience(StoreOptions options) {
  options.patience_s = 0;
  options.stop_grace_s = 2;  // who cannot say goodbye is taken for silent, which is as good
  return options;
}

}  // namespace

WorkerLease::WorkerLease(const StoreOptions& options, Database& database, int64_t run)
    : options_(WithoutPatience(options)),
      worker_(Enter(database, run, options.lease_s)),
      thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

WorkerLease::~WorkerLease() {
  thread_.request_stop();
  thread_.join();
  try {
    Database(options_).Query(
        "WITH ended AS (UPDATE agentr.worker SET ended_at = now() WHERE id = $1)"
        " UPDATE agentr.task SET worker = NULL"
        " WHERE run = (SELECT run FROM agentr.worker WHERE id = $1) AND worker = $1"
        " AND finished_at IS NULL",
        {worker_});
  } catch (const FatalError& error) {
    spdlog::warn("{}; other workers take over this one's tasks in {} s", error.what(),
                 options_.lease_s);
  }
}

void WorkerLease::SayAlive() {
  try {
    if (signs_ == nullptr) signs_ = std::make_unique<Database>(options_);
    signs_->Query("UPDATE agentr.worker SET seen_at = now() WHERE id = $1", {worker_});
  } catch (const FatalError& error) {
    // The threads that need the database wait for it, or end the run with the same error.
    spdlog::debug("no sign of life: {}", error.what());
    signs_.reset();
  }
}

void WorkerLease::Loop(const std::stop_token& stop) {
  // Two signs may be lost or late before the lease ends.
  const std::chrono::duration<double> interval(options_.lease_s / 3.0);
  while (SleepUnlessStopped(stop, interval)) SayAlive();
}

}  // namespace agentr
