// Threads that serve one connection each: as many as there are connections, up to a limit.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace agentr {

// A connection beyond the limit waits until another one ends. A thread whose connection has ended
// takes the next one; the threads live until Join. One thread calls HasRoom, Enqueue and Join.
class ConnectionThreads {
 public:
  explicit ConnectionThreads(size_t limit) : limit_(limit) {}
  ~ConnectionThreads() { Join(); }
  ConnectionThreads(const ConnectionThreads&) = delete;
  ConnectionThreads& operator=(const ConnectionThreads&) = delete;

  // True if the next connection would not have to wait.
  bool HasRoom();

  void Enqueue(std::function<void()> serve);

  // Returns when everything enqueued has been served.
  void Join();

 private:
  void Loop();

  size_t limit_;  // reduced if the system allows fewer threads
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, like the next two
  size_t idle_ = 0;                            // threads that wait or will start at once
  bool stop_ = false;
};

}  // namespace agentr
