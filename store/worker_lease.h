// A process as a worker on a run of the database. While it lives, it says so regularly, and the
// tasks that it has claimed are its own; when it has been silent for the time of its lease, others
// may take them over.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
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
  void Loop();

  const StoreOptions options_;       // without patience: the next sign tries again
  std::unique_ptr<Database> signs_;  // null: made anew by the next sign
  const int64_t worker_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace agentr
