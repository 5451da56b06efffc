// The connections that threads serve, and which of them can be given up for a newcomer.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

namespace agentr {

// Thread-safe. A connection is either waiting for a whole head, when closing it loses nothing, or
// busy with a request.
class OpenConnections {
 public:
  using Clock = std::chrono::steady_clock;

  class Connection {
   public:
    explicit Connection(int socket) : socket_(socket) {}

   private:
    friend class OpenConnections;
    enum class State { kWaiting, kBusy, kGivenUp };

    const int socket_;
    std::atomic<State> state_ = State::kWaiting;
    std::atomic<Clock::time_point> since_ = Clock::now();  // waiting
    std::atomic<bool> served_ = false;                     // a request before
    std::list<Connection>::iterator place_;
  };

  // Nothing after Close.
  Connection* Add(int socket);
  // Before the socket is closed.
  void Remove(Connection* connection);

  // A head has come; false where the connection has been given up meanwhile.
  static bool BeginRequest(Connection& connection);
  static void EndRequest(Connection& connection);

  // Ends one connection that has been waiting for at least `age`: one that never sent a request
  // before all others, and of those the one that waits longest. False where there is none.
  bool GiveUpOne(Clock::duration age);

  // No more connections. Reading ends on all, so that threads which wait go on; replies under way
  // can still be written.
  void Close();
  bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::list<Connection> open_;  // guarded by mutex_, as is the next
  bool closed_ = false;
};

}  // namespace agentr
