// Finds a rank that died, froze or lost its network, and ends this process with a message that
// names it.
//
// Every rank writes its sign of life into the job's store twice a second. Rank 0 watches all of
// them and writes a verdict about a rank that has been silent for too long, which the others read.
// If the store itself does not answer, rank 0, which keeps it, is gone. A separate thread does
// this, so that a rank that is stuck in a collective also learns of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "training/distributed/key_value_store.h"

namespace agentr {

struct LivenessOptions {
  std::chrono::milliseconds period{500};
  std::chrono::milliseconds silence{20'000};   // silence after which a rank counts as dead
  std::chrono::milliseconds suspected{4'000};  // the same once a collective has failed
};

class Liveness {
 public:
  // `end` is called once with a message and an exit code, from a thread of this object. In a
  // program it does not return but ends the process, whose main thread may be stuck.
  Liveness(std::unique_ptr<KeyValueStore> store, int rank, int size, const LivenessOptions& options,
           std::function<void(const std::string&, ExitCode)> end);
  ~Liveness();  // stops the signs of life
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  // Called after a collective has failed: waits until the lost rank is known and this process ends,
  // or returns if all ranks have shown that they are alive.
  void Suspect();
  // Announces that this rank ends because of `why`, with `code`; returns when the others can know
  // it.
  void Fail(const std::string& why, ExitCode code);

 private:
  struct Sign {
    std::string value;
    std::chrono::steady_clock::time_point changed;
  };
  void Run();
  void Watch();
  void Round();
  void Judge();
  void End(const std::string& message, ExitCode code);
  bool Sleep(std::chrono::milliseconds time);  // false if it must stop

  const std::unique_ptr<KeyValueStore> store_;
  const int rank_;
  const LivenessOptions options_;
  const std::function<void(const std::string&, ExitCode)> end_;
  std::vector<Sign> signs_;  // the signs of all ranks, seen by rank 0
  int64_t rounds_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  bool suspects_ = false;
  std::string failure_;  // verdict on this rank by itself, to be announced
  bool told_ = false;
  std::chrono::steady_clock::time_point last_round_ = std::chrono::steady_clock::now();
  std::atomic<bool> ended_ = false;
  std::thread thread_, watch_;  // must be the last members, because they use the others
};

}  // namespace agentr
