// Sockets under the HTTP service: cpp-httplib's server routes requests and writes replies, and this
// reads heads and moves the bytes.
//
// Its own way of serving a connection stands in for the library's, which wakes every idle
// connection a hundred times a second, writes a reply in two packets, refuses descriptors past
// 1023, cannot be stopped while a client keeps a connection open, stores header lines without end,
// and reads lengths so freely that a second request can be smuggled in the first (RequestHead).
//
// A connection has a thread while it is open. Where all threads are taken, a newcomer gets that of
// a connection which has been waiting for its next request; where all are busy, it is refused at
// once with 503 (OverloadDoor).
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "servers/http/open_connections.h"
#include "servers/http/overload_door.h"
#include "servers/http/request_stream.h"

namespace agentr {

struct TransportOptions {
  TransportTimeouts timeouts = {};
  HttpHeadLimits limits = {};
  size_t max_threads = 4096;

  // Why a request is refused before anything else is looked at; nothing where it is not.
  std::function<std::optional<HttpRefusal>(const RequestHead&)> check = {};
  // The bytes of the whole reply to a request that was refused, or that found no thread.
  std::function<std::string(const HttpRefusal&)> refusal = {};
  std::function<std::string(const RequestHead&)> overload = {};
};

class HttpTransport : public httplib::Server {
 public:
  explicit HttpTransport(TransportOptions options);

  // The port that it listens on: `port`, or a free one for 0. Throws FatalError(kUsage) with the
  // cure where the port is taken or the host is not this machine's.
  int Bind(const std::string& host, int port);

  // Serves until Shutdown. Called once, after Bind.
  void Run();

  // Ends Run(): no new connection; replies under way are sent, idle connections are closed.
  void Shutdown();

 private:
  class Queue;

  bool process_and_close_socket(socket_t socket) override;
  void Serve(socket_t socket, OpenConnections::Connection& connection);
  // Hands the next request to the library; false when the connection is over.
  bool ServeRequest(RequestStream& stream);

  const TransportOptions options_;
  std::atomic<bool> ended_ = false;  // Run is over
  OpenConnections connections_;
  size_t max_threads_;         // set by Bind
  std::thread::id accepting_;  // of Run
  std::unique_ptr<OverloadDoor> door_;
};

}  // namespace agentr
