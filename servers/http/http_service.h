// A JSON service over HTTP/1.1: the base of every server here.
//
//   HttpService service({.port = 0});
//   service.Post("/step", [&](const HttpRequest& request) {
//     …
//     return HttpResponse{.body = json};
//   });
//   service.Start();
//
// Built in: GET /health, GET /metrics (Prometheus text), and GET / for browsers (about_page.h).
// Errors are {"error": "…"}, or in the form of the options, and end the connection: 400 for a
// request that is not plain HTTP/1.1 (RequestHead) or a body that is not JSON, 403 for a name that
// is not the server's (HostNames), 404 and 405 for unknown paths and methods, 408 for a head that
// arrives too slowly, 413 for a body, 414 for a path and 431 for headers over the limit, 422 for a
// missing field or a wrong type, 500 if a handler throws, 503 if all threads are busy, when only
// GET /health is still answered.
//
// Each reply identifies this start of the server (kInstanceHeader, clients/http/http_client.h); a
// request for another start is refused with 410.
//
// Threads: one accepts connections, and each open connection has its own thread; handlers run on
// these threads, many at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "servers/http/about_page.h"

namespace agentr {

// Thrown by a handler to answer with this status. `code` and `field` (of the request) are used by
// services whose errors contain them.
class HttpStatusError : public std::runtime_error {
 public:
  HttpStatusError(int status, const std::string& message, std::string code = "",
                  std::string field = "")
      : std::runtime_error(message),
        status_(status),
        code_(std::move(code)),
        field_(std::move(field)) {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& field() const { return field_; }

 private:
  int status_;
  std::string code_, field_;
};

struct HttpServiceOptions {
  std::string host = "127.0.0.1";  // address to listen on; 0.0.0.0 for every network
  int port = 0;                    // 0: a free one
  size_t max_body = 1 << 20;       // bytes of a request's body
  // Connections open at once. A further one replaces a connection that waits for its next request,
  // or is refused if all are busy.
  int threads = 4096;

  // The body of an error's reply; empty: {"error": "…"}.
  std::function<std::string(const HttpStatusError&)> error_body = {};
  // What GET / tells browsers; without it they get what other clients get.
  std::function<AboutText()> about = {};
  // Called with the value of the Authorization header before the rest of a request is read; throws
  // HttpStatusError to refuse it.
  std::function<void(const std::string& path, const std::string& authorization)> admit = {};
  // Names by which requests may reach the server, in addition to those of this machine (HostNames).
  std::vector<std::string> allow_host = {};
};

struct HttpRequest {
  std::string body;
  std::multimap<std::string, std::string> query = {};  // the parameters behind the path

  // A parameter of the query string.
  std::optional<std::string> Parameter(const std::string& name) const;

  // Whether nobody waits for the reply any more: the client has disconnected. For handlers that
  // take long; only on the thread on which the handler is called. False once the service stops.
  bool ClientGone() const;
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";

  // Used instead of `body`: called repeatedly for the next piece (not empty) until it returns
  // nullopt; each piece is sent immediately. It is destroyed when the reply has ended or the client
  // has disconnected.
  std::function<std::optional<std::string>()> stream = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpService {
 public:
  explicit HttpService(HttpServiceOptions options);
  ~HttpService();  // stops
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  // Call before Start. The whole path must match.
  void Get(const std::string& path, HttpHandler handler);
  void Post(const std::string& path, HttpHandler handler);

  // Adds lines to /metrics, which `append` writes at each request. Call before Start.
  void AddMetrics(std::function<void(std::string&)> append);

  // Returns when connections are accepted. Throws FatalError(kUsage) if the port is taken.
  void Start();

  // Stops quickly, even if connections are open; running handlers finish. Idempotent.
  void Stop();

  // Valid after Start.
  int port() const { return port_; }
  std::string base_url() const;  // "http://127.0.0.1:32361", for clients on this machine

 private:
  class Impl;

  const HttpServiceOptions options_;
  int port_ = 0;
  std::unique_ptr<Impl> impl_;
  std::thread accepting_;
};

}  // namespace agentr
