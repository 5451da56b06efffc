// Threads that serve connections, one each: as many as there are connections, up to a limit.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace agentr {

// A connection past the limit waits until another one ends. A thread whose connection ended takes
// the next one; the threads live until Join. HasRoom, Enqueue and Join are called by one thread.
class ConnectionThreads {
 public:
  explicit ConnectionThreads(size_t limit) : limit_(limit) {}
  ~ConnectionThreads() { Join(); }
  ConnectionThreads(const ConnectionThreads&) = delete;
  ConnectionThreads& operator=(const ConnectionThreads&) = delete;

  // True where the next connection would not have to wait.
  bool HasRoom();

  void Enqueue(std::function<void()> serve);

  // Returns when everything enqueued has been served.
  void Join();

 private:
  void Loop();

  size_t limit_;  // lowered to what the system allows
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, as are the next two
  size_t idle_ = 0;                            // threads that wait, or are about to start
  bool stop_ = false;
};

}  // namespace agentr
