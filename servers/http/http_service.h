// A JSON service over HTTP/1.1: the base of every server here.
//
//   HttpService service({.port = 0});
//   service.Post("/step", [&](const HttpRequest& request) {
//     …
//     return HttpResponse{.body = json};
//   });
//   service.Start();
//
// Built in: GET /health, GET /metrics (Prometheus text). Errors are {"error": "…"}, or as the
// options say, and end the connection: 400 for a request that is not plain HTTP/1.1 (RequestHead)
// or a body that is no JSON, 403 for a name that is not the server's (HostNames), 404 and 405 for
// what is not offered, 408 for a head that comes too slowly, 413 for a body, 414 for a path and 431
// for headers over the limit, 422 for a missing field or a wrong type, 500 when a handler throws,
// 503 when all threads are busy; GET /health is answered even then.
//
// Each reply names this start of the server (kInstanceHeader, clients/http_client.h); a request for
// another start is refused with 410.
//
// Threads: one accepts, and each connection has one of its own while it is open; handlers run on
// those, many at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace agentr {

// Thrown by a handler: answered with this status. `code` and `field` (of the request) are for
// services whose errors tell them.
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
  // Connections open at once. One more takes the place of one that waits for its next request, or
  // is refused where all are busy.
  int threads = 4096;

  // The body of an error's reply; empty: {"error": "…"}.
  std::function<std::string(const HttpStatusError&)> error_body = {};
  // Called before a request is read further, with the value of its Authorization header; throws
  // HttpStatusError to refuse it.
  std::function<void(const std::string& path, const std::string& authorization)> admit = {};
  // Names by which requests may reach the server, beyond those of this machine (HostNames).
  std::vector<std::string> allow_host = {};
};

struct HttpRequest {
  std::string body;
  const std::multimap<std::string, std::string>* query = nullptr;

  // A parameter of the query string.
  std::optional<std::string> Parameter(const std::string& name) const;
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";

  // In place of `body`: called for one piece (not empty) after the other until there is none; each
  // is sent at once. It is destroyed when the reply has ended, or the client is gone.
  std::function<std::optional<std::string>()> stream = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpService {
 public:
  explicit HttpService(HttpServiceOptions options);
  ~HttpService();  // stops
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  // Before Start. `path` is matched whole.
  void Get(const std::string& path, HttpHandler handler);
  void Post(const std::string& path, HttpHandler handler);

  // More lines for /metrics, written by `append` at each call. Before Start.
  void AddMetrics(std::function<void(std::string&)> append);

  // Returns when connections are accepted. Throws FatalError(kUsage) where the port is taken.
  void Start();

  // Ends quickly, whatever connections are open; what handlers are at is finished. Idempotent.
  void Stop();

  // After Start.
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
