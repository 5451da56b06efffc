// Answers connections for which no thread is free: either that the server is alive (/health), or
// that it is overloaded. It has one thread for all of them, which never waits for a single one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "servers/http/request_head.h"

namespace agentr {

class OverloadDoor {
 public:
  // `answer` returns the bytes of the reply to a head. At most `most` connections are held; a
  // further one replaces the oldest.
  OverloadDoor(size_t most, HttpHeadLimits limits,
               std::function<std::string(const RequestHead&)> answer);
  ~OverloadDoor();
  OverloadDoor(const OverloadDoor&) = delete;
  OverloadDoor& operator=(const OverloadDoor&) = delete;

  // Takes over the connection and closes it after its reply, or after one second.
  void Admit(int socket);

 private:
  using Clock = std::chrono::steady_clock;

  struct Visitor {
    int socket;
    HeadScanner scanner;
    Clock::time_point until;
    std::string head = {};
    bool answered = false;  // if true, further bytes are read and discarded
  };

  void Loop();
  // Takes the new connections since the last call; false if the door shall close.
  bool TakeArrivals();
  // Reads the available bytes. False if the connection has ended.
  bool Hear(Visitor& visitor);
  bool Answer(Visitor& visitor);

  const size_t most_;
  const HttpHeadLimits limits_;
  const std::function<std::string(const RequestHead&)> answer_;
  const int wake_;               // an eventfd
  std::list<Visitor> visitors_;  // used by the thread
  std::mutex mutex_;
  std::vector<int> arrivals_;  // guarded by mutex_, like the next
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace agentr
