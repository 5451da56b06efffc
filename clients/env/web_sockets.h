// Connections of RFC 6455 (WebSocket) to one server, plain or TLS, for protocols in which each
// connection is a session.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "clients/http/http_client.h"
#include "clients/http/http_connection.h"
#include "common/secret.h"

namespace agentr {

// Thread-safe; each connection is used by one thread at a time. A thread of its own reads all
// connections, so that a server's pings are answered while nobody waits for a text. Proxies are not
// used.
class WebSockets {
 public:
  // The server of `origin`; `target` is the path of the connections ("/ws") and `headers` the lines
  // of further headers. `options` outlives it and limits waits and sizes, as for HttpClient.
  WebSockets(HttpOrigin origin, std::string target, Secret headers, const HttpOptions& options);
  ~WebSockets();

  using Number = int64_t;  // of a connection; none is given out twice

  // The faults are those of HttpConnection; the detail of a refused handshake says why.
  tl::expected<Number, HttpFailure> Open();

  // Sends a text and waits for the next one that comes. After a fault (kBroken, kSilent, kStopped,
  // kTooLarge) the connection is gone.
  tl::expected<std::string, HttpFailure> Exchange(Number connection, std::string text);

  // Sends `farewell`, waits for at most `within` until the server has closed, and ends the
  // connection. Nothing happens for one that is gone.
  void Close(Number connection, std::string farewell, std::chrono::milliseconds within);

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace agentr
