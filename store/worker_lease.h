// A process as a worker on a run of the database. While it lives, it says so regularly, and the
// tasks that it has claimed are its own; when it has been silent for the time of its lease, others
// may take them over.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "store/database.h"

namespace agentr {

class WorkerLease {
 public:
  // Enters this process as a worker on `run`. The signs of life have a connection of their own, so
  // that a long statement does not delay them. Throws FatalError.
  WorkerLease(const StoreOptions& options, Database& database, int64_t run);
  // Gives back the tasks that this worker has claimed and not finished, if the server answers;
  // otherwise the lease ends by itself.
  ~WorkerLease();
  WorkerLease(const WorkerLease&) = delete;
  WorkerLease& operator=(const WorkerLease&) = delete;

  int64_t worker() const { return worker_; }  // its number in the database

 private:
  void SayAlive();
  void Loop(const std::stop_token& stop);

  const StoreOptions options_;       // without patience: the next sign tries again
  std::unique_ptr<Database> signs_;  // null: made anew by the next sign
  const int64_t worker_;
  std::jthread thread_;  // must be the last member, because it uses the others
};

}  // namespace agentr
