// Pieces of work reserved among the threads and processes that share a folder of results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>

namespace agentr {

enum class Claim {
  kMine,   // go on and do it
  kDone,   // its result is there already
  kTaken,  // another run works on it at this moment
};

// Claims are locks on bytes of the file `.claims` in the folder, which the system gives up with a
// process, however it ends. Thread-safe.
class WorkClaims {
 public:
  // Makes the folder if need be. Throws FatalError(kFile).
  explicit WorkClaims(const std::filesystem::path& folder);
  ~WorkClaims();
  WorkClaims(const WorkClaims&) = delete;
  WorkClaims& operator=(const WorkClaims&) = delete;

  // Reserves `key` (>= 0), whose result is the file `result`, until Release. What a killed run left
  // half-written of that file is removed. Throws FatalError(kFile) where the folder has no locks.
  Claim TryClaim(int64_t key, const std::filesystem::path& result);
  void Release(int64_t key);

 private:
  int fd_ = -1;
  std::mutex mutex_;
  std::set<int64_t> mine_;  // guarded by mutex_; the locks do not tell threads of one process apart
};

}  // namespace agentr
