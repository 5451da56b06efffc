// An HTTP(S) client for one base URL, for many threads at once.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "clients/call_stats.h"
#include "clients/http/retry.h"
#include "common/error.h"
#include "common/interrupt.h"
#include "common/secret.h"

namespace agentr {

class OptionSet;
struct HttpFailure;
struct HttpOrigin;

// The time by which a call must have ended, however slowly the server sends; nullopt: none.
using CallLimit = std::optional<std::chrono::steady_clock::time_point>;

struct HttpOptions {
  double connect_timeout_s = 5;
  double timeout_s = 60;             // longest time without data from the server during a call
  int max_connections = 64;          // per base URL; further callers wait
  size_t max_reply = 64 << 20;       // bytes of a reply's body
  size_t max_reply_head = 64 << 10;  // bytes of a reply's headers
  std::string ca_file;               // https: PEM file of trusted certificates; empty: the system's
  // Once it is set, calls in progress and later ones have stop_grace_s together, for example to
  // close a session; then they fail.
  const std::atomic<bool>* stop = &Interrupted();
  double stop_grace_s = 2;
  std::map<std::string, Secret> headers;  // sent with each request; never in a message
  // The header of replies by which the server names a session: "Set-Cookie", "X-Session-ID".
  std::string session_header;
  double cool_down_s = 5;  // with several servers: how long one that failed is skipped
  RetryPolicy retry;       // for callers that repeat calls; HttpClient itself does not
};

// Declares --PREFIX_timeout, --PREFIX_attempts, --PREFIX_connections, --PREFIX_max_reply,
// --PREFIX_max_reply_head and --PREFIX_ca; `what` names the server in the help ("environment
// server").
void Declare(OptionSet& set, HttpOptions& options, const std::string& prefix,
             const std::string& what);

// A header of each reply that identifies one start of a server. A request with it is only for that
// start: a restarted server refuses it (410), because its session ids may now belong to other
// sessions.
inline constexpr char kInstanceHeader[] = "Agentr-Instance";

struct HttpReply {
  int status = 0;  // 2xx
  std::string body;
  std::string instance;      // kInstanceHeader; empty for servers that do not send it
  std::string session = {};  // HttpOptions::session_header, of cookies their names and values
};

// An Error with further facts about the failed call.
struct HttpError : Error {
  bool sent = true;  // false: no connection was made, so the server cannot have seen the request
  int status = 0;    // of the reply; 0 if there was none
  std::string body;  // of the reply
};

// The error of a call that got no whole reply. `call` begins its message.
HttpError TransportError(const HttpFailure& failure, const std::string& call,
                         const HttpOptions& options);

using HttpResult = tl::expected<HttpReply, HttpError>;

// Thread-safe. Redirections that repeat the request (307, 308) are followed on the same server.
// Connections are kept and reused, the most recently used first; a failed one is
// closed. Errors:
//   kUnreachable    no connection, or it broke before the whole reply came
//   kProtocol       a reply that is not HTTP
//   kCancelled      the run is being stopped
//   kTimeout        no connection, or no reply, in time; HTTP 408
//   kRateLimited    HTTP 429, with retry_after_s
//   kServer         HTTP 5xx, with retry_after_s
//   kRejected       any other status that is not 2xx, or a reply over a limit
// Each message names the method, the URL, what happened and the usual cure.
class HttpClient {
 public:
  // `base_url`: http:// or https://, host, port, a path that goes before each call's path
  // ("https://host/v1"), and a query that goes behind it ("?api-version=1"). USER:PASSWORD@ before
  // the host is sent as Basic authentication (RFC 7617). Throws FatalError(kUsage) for anything
  // else.
  HttpClient(const Secret& base_url, HttpOptions options, std::shared_ptr<CallStats> stats);
  ~HttpClient();

  // `instance`: the server start that the call is for (kInstanceHeader); empty for any. `header`: a
  // further header of this request, "Cookie: a=1"; empty for none.
  HttpResult Get(std::string_view path, const std::string& instance = "", CallLimit until = {},
                 const std::string& header = "") {
    return Call("GET", path, {}, true, instance, until, header);
  }

  // `repeatable`: the call may reach the server twice. If so, a kept connection that the server has
  // closed is replaced silently; otherwise that is kUnreachable.
  HttpResult Post(std::string_view path, std::string_view json, bool repeatable,
                  const std::string& instance = "", CallLimit until = {},
                  const std::string& header = "") {
    return Call("POST", path, json, repeatable, instance, until, header);
  }

  // For messages: without its password.
  const std::string& base_url() const { return base_url_; }

  // Where a connection of another protocol to this server goes (clients/env/web_sockets.h): the
  // server, what its request names for `path`, and the lines of the headers.
  const HttpOrigin& origin() const;
  std::string Target(std::string_view path) const;
  const Secret& header_lines() const { return headers_; }

  // `text`, which may quote what this client sent, without its password and headers.
  std::string WithoutSecrets(std::string text) const;

 private:
  class Pool;

  HttpResult Call(std::string_view method, std::string_view path, std::string_view body,
                  bool repeatable, const std::string& instance, CallLimit until,
                  const std::string& header);

  // That of a redirection of `target` to the same server (RFC 3986, 5.2); nullopt for another one,
  // to which no key is sent.
  std::optional<std::string> TargetOf(std::string location, std::string_view target) const;
  std::string RequestText(std::string_view method, std::string_view target, std::string_view body,
                          const std::string& instance, const std::string& header) const;

  // Reads the base URL, moves its user and password to the headers, and returns the origin.
  HttpOrigin ReadBase();

  const Secret base_;
  std::string base_url_;  // redacted, without its query and the slash at the end
  std::string prefix_;    // its path
  std::string query_;     // from "?" on; "" without one
  Secret headers_;        // the lines of options_.headers
  HttpOptions options_;
  std::shared_ptr<CallStats> stats_;
  std::unique_ptr<Pool> pool_;
};

// Seconds that a Retry-After header asks for at the time `now_s` (seconds since 1970): a number or
// an HTTP date; 0 when it is neither or has passed.
double ParseRetryAfter(const std::string& value, double now_s);

}  // namespace agentr
