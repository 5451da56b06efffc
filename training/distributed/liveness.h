// Finds the rank that died, froze or lost its network, and ends this process with a message that
// names it.
//
// Every rank sets its sign of life in the job's store twice a second. Rank 0 watches all of them; of
// one that has been silent for too long it writes a verdict, which the others read. When the store
// itself does not answer, rank 0, which keeps it, is the one that is gone. A thread does this beside
// the training, so that a rank that is stuck in a collective hears of it too.
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

#include "training/distributed/key_value_store.h"

namespace agentr {

struct LivenessOptions {
  std::chrono::milliseconds period{500};
  std::chrono::milliseconds silence{20'000};   // after which a rank counts as dead
  std::chrono::milliseconds suspected{4'000};  // the same once a collective has failed
};

class Liveness {
 public:
  // `end`: is called once with a message, from a thread of this object, and does not return in a
  // program (it ends the process, whose main thread may be stuck).
  Liveness(std::unique_ptr<KeyValueStore> store, int rank, int size, const LivenessOptions& options,
           std::function<void(const std::string&)> end);
  ~Liveness();  // no signs of life any more
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  // A collective has failed: waits until it is known which rank is gone and this process ends, and
  // returns where all have shown that they live.
  void Suspect();
  // This rank ends because of `why`; returns when the others can know it.
  void Fail(const std::string& why);

 private:
  struct Sign {
    std::string value;
    std::chrono::steady_clock::time_point changed;
  };
  void Run();
  void Watch();
  void Round();
  void Judge();
  void End(const std::string& message);
  bool Sleep(std::chrono::milliseconds time);  // false: to be stopped

  const std::unique_ptr<KeyValueStore> store_;
  const int rank_;
  const LivenessOptions options_;
  const std::function<void(const std::string&)> end_;
  std::vector<Sign> signs_;  // of all ranks, as rank 0 sees them
  int64_t rounds_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  bool suspects_ = false;
  std::string failure_;  // of this rank, to be told
  bool told_ = false;
  std::chrono::steady_clock::time_point last_round_ = std::chrono::steady_clock::now();
  std::atomic<bool> ended_ = false;
  std::thread thread_, watch_;  // last: they use all of the above
};

}  // namespace agentr
