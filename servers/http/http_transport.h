// Sockets under the HTTP service: cpp-httplib's server parses and writes messages, and this moves
// the bytes.
//
// Its own way of serving a connection stands in for the library's, which wakes every idle
// connection a hundred times a second, writes a reply in two packets, refuses descriptors past
// 1023, and cannot be stopped while a client keeps a connection open.
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>

namespace agentr {

// How long a connection may wait, seconds.
struct TransportTimeouts {
  int idle_s = 24 * 3600;  // between two requests
  int stalled_s = 30;      // within a request or a reply
};

class HttpTransport : public httplib::Server {
 public:
  HttpTransport(TransportTimeouts timeouts, size_t max_threads);

  // The port that it listens on: `port`, or a free one for 0. Throws FatalError(kUsage) with the
  // cure where the port is taken or the host is not this machine's.
  int Bind(const std::string& host, int port);

  // Serves until Shutdown. Called once, after Bind.
  void Run();

  // Ends Run(): no new connection; replies under way are sent, idle connections are closed.
  void Shutdown();

 private:
  bool process_and_close_socket(socket_t socket) override;

  // False when the server is being shut down.
  bool Register(socket_t socket);
  void Unregister(socket_t socket);

  const TransportTimeouts timeouts_;
  std::atomic<bool> ended_ = false;  // Run is over
  std::mutex mutex_;
  std::unordered_set<socket_t> open_;  // guarded by mutex_
  bool stopping_ = false;              // guarded by mutex_
};

}  // namespace agentr
