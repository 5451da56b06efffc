// The sockets below the HTTP service. cpp-httplib's server routes requests and writes replies; this
// class reads heads and transfers the bytes.
//
// It replaces the library's code for serving a connection. That code wakes every idle connection a
// hundred times a second, writes a reply in two packets, refuses descriptors above 1023, cannot be
// stopped while a client keeps a connection open, stores unlimited header lines, and reads lengths
// so leniently that a second request can be smuggled inside the first (RequestHead).
//
// A connection has a thread while it is open. If all threads are taken, a new connection gets the
// thread of one that is waiting for its next request; if all are busy, it is refused immediately
// with 503 (OverloadDoor).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "servers/http/httplib_inner.h"
#include "servers/http/open_connections.h"
#include "servers/http/overload_door.h"
#include "servers/http/request_stream.h"

namespace agentr {

struct TransportOptions {
  TransportTimeouts timeouts = {};
  HttpHeadLimits limits = {};
  size_t max_threads = 4096;

  // The reason to refuse a request before anything else is examined; nullopt to accept it.
  std::function<std::optional<HttpRefusal>(const RequestHead&)> check = {};
  // The bytes of the complete reply to a refused request, or to one without a free thread.
  std::function<std::string(const HttpRefusal&)> refusal = {};
  std::function<std::string(const RequestHead&)> overload = {};
};

class HttpTransport : public LibraryServer {
 public:
  explicit HttpTransport(TransportOptions options);

  // Listens on `port`, or on a free one for 0, and returns the port. Throws FatalError(kUsage) with
  // the cure if the port is taken or the host is not this machine's.
  int Bind(const std::string& host, int port);

  // Serves until Shutdown. Called once, after Bind.
  void Run();

  // Whether the client of the request that the calling thread answers has disconnected. From
  // Shutdown on this is unknown, and false.
  static bool ClientGone();

  // Ends Run(): accepts no new connection, sends replies in progress, and closes idle connections.
  void Shutdown();

 private:
  class Queue;

  bool process_and_close_socket(socket_t socket) override;
  void Serve(socket_t socket, OpenConnections::Connection& connection);
  // Hands the next request to the library; false if the connection has ended.
  bool ServeRequest(RequestStream& stream);

  const TransportOptions options_;
  std::atomic<bool> ended_ = false;  // Run has ended
  OpenConnections connections_;
  size_t max_threads_;         // set by Bind
  std::thread::id accepting_;  // the thread of Run
  std::unique_ptr<OverloadDoor> door_;
};

}  // namespace agentr
