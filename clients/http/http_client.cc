#include "clients/http/http_client.h"

#include <fmt/core.h>
#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "common/options.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::chrono::microseconds Micros(double seconds) {
  return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

// Writing to a connection that the server has closed must be an error, not the end of the process;
// cpp-httplib's client leaves this to the program.
void IgnoreSigpipe() {
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
}

// Newer versions of cpp-httplib tell more TLS errors apart than older ones; all have such a name.
bool IsTlsError(httplib::Error error) { return httplib::to_string(error).starts_with("SSL"); }

// "host", "host:port", "[::1]:port".
bool IsHostAndPort(const std::string& text) {
  const size_t host_end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  if (host_end == 0 || text.empty()) return false;
  if (host_end >= text.size()) return true;
  const std::string_view digits = std::string_view(text).substr(host_end + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return text[host_end] == ':' && error == std::errc() && end == digits.data() + digits.size() &&
         port > 0;
}

// No request can have left then.
bool FailedToConnect(httplib::Error error) {
  return error == httplib::Error::Connection || error == httplib::Error::ConnectionTimeout ||
         error == httplib::Error::BindIPAddress || IsTlsError(error);
}

// A call that got no reply. cpp-httplib reports silence and a broken connection alike; only the
// clock tells them apart.
HttpError TransportError(httplib::Error error, const std::string& call, const HttpOptions& options,
                         double elapsed_s) {
  HttpError out;
  out.sent = !FailedToConnect(error);
  const double limit_s = out.sent ? options.timeout_s : options.connect_timeout_s;
  const bool late = error == httplib::Error::ConnectionTimeout || elapsed_s >= 0.95 * limit_s;
  out.kind = late ? ErrorKind::kTimeout : ErrorKind::kUnreachable;
  if (late) {
    out.message = fmt::format("{}: no {} in {:g} s; is the server overloaded?", call,
                              out.sent ? "reply" : "connection", limit_s);
  } else if (IsTlsError(error)) {
    out.message = fmt::format(
        "{}: no TLS connection ({}); does the server speak https, and is its certificate trusted?",
        call, httplib::to_string(error));
  } else if (!out.sent) {
    out.message = call + ": cannot connect; is the server running, and is the URL right?";
  } else {
    out.message = call + ": the connection broke before the whole reply came";
  }
  return out;
}

// A reply that is not a success. Only the beginning of the body goes into the message.
HttpError StatusError(const httplib::Response& reply, const std::string& call) {
  HttpError out;
  out.status = reply.status;
  out.body = reply.body;
  out.message = fmt::format("{}: HTTP {}: {}", call, reply.status, reply.body.substr(0, 300));
  if (reply.status == 408) {
    out.kind = ErrorKind::kTimeout;
  } else if (reply.status == 429) {
    out.kind = ErrorKind::kRateLimited;
  } else if (reply.status >= 500) {
    out.kind = ErrorKind::kServer;
  } else {
    out.kind = ErrorKind::kRejected;
  }
  if (out.kind != ErrorKind::kRejected) {
    out.retry_after_s = ParseRetryAfter(reply.get_header_value("Retry-After"),
                                        static_cast<double>(std::time(nullptr)));
  }
  return out;
}

}  // namespace

// The connections of one base URL. A httplib::Client serves one call at a time, so each call
// borrows one; at most `max_connections` exist.
class HttpClient::Pool {
 public:
  Pool(std::string origin, const HttpOptions& options)
      : origin_(std::move(origin)), options_(options) {}

  std::unique_ptr<httplib::Client> Take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return taken_ < options_.max_connections; });
    ++taken_;
    if (idle_.empty()) return Make();
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }

  // Null after a fault: the connection is gone, its place is free.
  void Return(std::unique_ptr<httplib::Client> client) {
    {
      std::lock_guard lock(mutex_);
      --taken_;
      if (client) idle_.push_back(std::move(client));
    }
    freed_.notify_one();
  }

  std::unique_ptr<httplib::Client> Make() const {
    auto client = std::make_unique<httplib::Client>(origin_);
    client->set_keep_alive(true);
    client->set_tcp_nodelay(true);
    client->set_connection_timeout(Micros(options_.connect_timeout_s));
    client->set_read_timeout(Micros(options_.timeout_s));
    client->set_write_timeout(Micros(options_.timeout_s));
    client->set_default_headers(httplib::Headers(options_.headers.begin(), options_.headers.end()));
    if (!options_.ca_file.empty()) client->set_ca_cert_path(options_.ca_file);
    return client;
  }

 private:
  const std::string origin_;
  const HttpOptions& options_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<httplib::Client>> idle_;  // guarded by mutex_
  int taken_ = 0;                                       // guarded by mutex_
};

HttpClient::HttpClient(std::string base_url, HttpOptions options, std::shared_ptr<CallStats> stats)
    : base_url_(std::move(base_url)), options_(std::move(options)), stats_(std::move(stats)) {
  while (base_url_.ends_with('/')) base_url_.pop_back();
  const size_t scheme = base_url_.find("://");
  const std::string name = base_url_.substr(0, scheme);
  const std::string authority =
      scheme == std::string::npos
          ? ""
          : base_url_.substr(scheme + 3, base_url_.find('/', scheme + 3) - (scheme + 3));
  if ((name != "http" && name != "https") || !IsHostAndPort(authority)) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("'{}' is not a base URL; give one such as http://127.0.0.1:36001", base_url_));
  }
  const size_t path = std::min(base_url_.find('/', scheme + 3), base_url_.size());
  prefix_ = base_url_.substr(path);
  IgnoreSigpipe();
  pool_ = std::make_unique<Pool>(base_url_.substr(0, path), options_);
}

HttpClient::~HttpClient() = default;

HttpResult HttpClient::Call(std::string_view method, std::string_view path, std::string_view body,
                            bool repeatable, const std::string& instance) {
  const std::string target = prefix_ + std::string(path);
  const std::string call = fmt::format("{} {}{}", method, base_url_, path);
  httplib::Headers headers;
  if (!instance.empty()) headers.emplace(kInstanceHeader, instance);
  auto client = pool_->Take();
  for (;;) {
    const bool kept = client->is_socket_open() != 0;
    const auto begin = Clock::now();
    const httplib::Result reply = method == "GET" ? client->Get(target, headers)
                                                  : client->Post(target, headers, body.data(),
                                                                 body.size(), "application/json");
    stats_->AddCall(body.size(), reply ? reply->body.size() : 0);
    if (reply) {
      pool_->Return(std::move(client));
      if (reply->status >= 200 && reply->status < 300) {
        return HttpReply{reply->status, reply->body, reply->get_header_value(kInstanceHeader)};
      }
      HttpError error = StatusError(*reply, call);
      stats_->AddError(error.kind);
      return tl::make_unexpected(std::move(error));
    }
    HttpError error = TransportError(reply.error(), call, options_, Seconds(begin));
    if (kept && repeatable && error.sent && error.kind == ErrorKind::kUnreachable) {
      stats_->AddReconnect();
      client = pool_->Make();  // not kept, so this happens once
      continue;
    }
    pool_->Return(nullptr);
    stats_->AddError(error.kind);
    return tl::make_unexpected(std::move(error));
  }
}

double ParseRetryAfter(const std::string& value, double now_s) {
  char* end = nullptr;
  const double seconds = std::strtod(value.c_str(), &end);
  if (!value.empty() && *end == '\0') return std::isfinite(seconds) ? std::max(0.0, seconds) : 0;
  std::tm date{};
  if (strptime(value.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return 0;
  return std::max(0.0, static_cast<double>(timegm(&date)) - now_s);
}

void Declare(OptionSet& set, HttpOptions& o, const std::string& prefix, const std::string& what) {
  const std::string flag = "--" + prefix + "_";
  set.Add(flag + "timeout", o.timeout_s, "Seconds without a reply of the " + what).Min(0.001);
  set.Add(flag + "attempts", o.retry.attempts, "Attempts per call to the " + what).Min(1);
  set.Add(flag + "connections", o.max_connections, "Connections to each " + what).Min(1);
  set.Add(flag + "ca", o.ca_file, "PEM file of the certificates to trust (https)");
}

}  // namespace agentr
