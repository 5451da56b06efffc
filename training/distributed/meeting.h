// How the processes of a job meet in the store that rank 0 keeps: each writes its fingerprint there
// and waits for the others. One that does not come is named, and so is one whose fingerprint is not
// that of rank 0.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "training/distributed/job_fingerprint.h"
#include "training/distributed/key_value_store.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

struct MeetingTimes {
  std::chrono::milliseconds most{30'000};  // to wait for a process
  std::chrono::milliseconds say{10'000};   // after which a line says for whom it waits
  std::chrono::milliseconds grace{1'000};  // after `most`, for a call that does not return
};

// Says for whom this process has been waiting for long, and ends it if even the call that waits
// does not return, because the machine or the process at the other end is frozen.
class Patience {
 public:
  // `end` is called at most once, with a message, from a thread of this object; in a program it
  // does not return.
  Patience(const MeetingTimes& times, std::function<void(const std::string&)> end);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // From now on this process waits for `whom` ("rank 1, 2"; empty: for nobody). The time begins
  // anew with `anew`.
  void WaitFor(const std::string& whom, bool anew);

 private:
  void Run(const std::stop_token& stop);

  const MeetingTimes times_;
  const std::function<void(const std::string&)> end_;
  std::mutex mutex_;
  std::string whom_;  // guarded by mutex_, like the next two
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool said_ = false;
  std::jthread thread_;  // must be the last member, because it uses the others
};

// Returns when all ranks of the job are in `store` with this fingerprint. Throws FatalError:
// kUsage, in all ranks that are there, naming the differences; kUnavailable naming the ranks that
// have not come in time; kUsage for a rank that another process already has. Before rank 0 throws
// for the first two it gives the others the time to do the same: the store ends with it.
void Meet(KeyValueStore& store, const Place& place, const JobFingerprint& fingerprint,
          const MeetingTimes& times, Patience& patience);

}  // namespace agentr
