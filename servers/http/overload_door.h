// Answers connections for which there is no thread: that the server is alive (/health), or that it
// is overloaded. One thread of its own for all of them, which waits for none.
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
  // `answer` gives the bytes of the reply to a head. At most `most` connections are held; the one
  // that came first is closed for another one.
  OverloadDoor(size_t most, HttpHeadLimits limits,
               std::function<std::string(const RequestHead&)> answer);
  ~OverloadDoor();
  OverloadDoor(const OverloadDoor&) = delete;
  OverloadDoor& operator=(const OverloadDoor&) = delete;

  // Takes over the connection, which is closed after its reply, or after a second.
  void Admit(int socket);

 private:
  using Clock = std::chrono::steady_clock;

  struct Visitor {
    int socket;
    HeadScanner scanner;
    Clock::time_point until;
    std::string head = {};
    bool answered = false;  // what it still sends is read and forgotten
  };

  void Loop();
  // Visitors that came since the last call; false when the door is to close.
  bool TakeArrivals();
  // Reads what is there. False when the connection is over.
  bool Hear(Visitor& visitor);
  bool Answer(Visitor& visitor);

  const size_t most_;
  const HttpHeadLimits limits_;
  const std::function<std::string(const RequestHead&)> answer_;
  const int wake_;               // an eventfd
  std::list<Visitor> visitors_;  // of the thread
  std::mutex mutex_;
  std::vector<int> arrivals_;  // guarded by mutex_, as is the next
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace agentr
