// The connections that threads serve; selects one to close when a new connection needs a thread.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

namespace agentr {

// Thread-safe. A connection is either waiting for a complete head, so that closing it loses
// nothing, or busy with a request.
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
    std::atomic<Clock::time_point> since_ = Clock::now();  // start of its present wait
    std::atomic<bool> served_ = false;                     // true once it has served a request
    std::list<Connection>::iterator place_;
  };

  // Null after Close.
  Connection* Add(int socket);
  // Call before the socket is closed.
  void Remove(Connection* connection);

  // Records that a head has arrived; false if the connection was given up in the meantime.
  static bool BeginRequest(Connection& connection);
  static void EndRequest(Connection& connection);

  // Ends a connection that has been waiting for at least `age`: preferably one that never sent a
  // request, and among equals the one that has waited longest. False if there is none.
  bool GiveUpOne(Clock::duration age);

  // Refuses further connections and ends reading on all, so that waiting threads continue; replies
  // in progress can still be written.
  void Close();
  bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::list<Connection> open_;  // guarded by mutex_, like the next
  bool closed_ = false;
};

}  // namespace agentr
