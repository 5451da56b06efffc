#include "clients/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "clients/http/http_connection.h"
#include "clients/http/http_reply.h"
#include "clients/http/proxy.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "common/text.h"
#include "common/version.h"

namespace agentr {
namespace {

constexpr int kMostRedirects = 5;  // of one call

// "host", "host:port", "[::1]:port".
bool IsHostAndPort(const std::string& text) {
  const size_t host_end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  if (host_end == 0 || text.empty()) return false;
  if (host_end >= text.size()) return true;
  const auto port = ParseNumber<uint16_t>(std::string_view(text).substr(host_end + 1));
  return text[host_end] == ':' && port.value_or(0) > 0;
}

ErrorKind KindOf(HttpFault fault) {
  switch (fault) {
    case HttpFault::kConnectSlow:
    case HttpFault::kSilent:
    case HttpFault::kLate:
      return ErrorKind::kTimeout;
    case HttpFault::kMalformed:
      return ErrorKind::kProtocol;
    case HttpFault::kTooLarge:
      return ErrorKind::kRejected;
    case HttpFault::kStopped:
      return ErrorKind::kCancelled;
    default:
      return ErrorKind::kUnreachable;
  }
}

std::string Describe(const HttpFailure& failure, const HttpOptions& options) {
  switch (failure.fault) {
    case HttpFault::kNoConnection:
      if (failure.through_proxy) return "cannot connect " + failure.detail;
      return fmt::format("cannot connect ({}); is the server running, and is the URL right?",
                         failure.detail);
    case HttpFault::kConnectSlow:
      return fmt::format("no connection in {:g} s; is the server overloaded?",
                         options.connect_timeout_s);
    case HttpFault::kTls:
      return fmt::format(
          "no TLS connection ({}); does the server speak https, and is its certificate trusted?",
          failure.detail);
    case HttpFault::kSilent:
      return fmt::format("no reply in {:g} s; is the server overloaded?", options.timeout_s);
    case HttpFault::kLate:
      return "no complete reply within the time of the call; is the server overloaded?";
    case HttpFault::kMalformed:
      return fmt::format("the reply is not HTTP ({}); is the URL right?", failure.detail);
    case HttpFault::kTooLarge:
      return fmt::format("the reply is refused: {}", failure.detail);
    case HttpFault::kStopped:
      return "the run is being stopped";
    case HttpFault::kBroken:
      break;
  }
  return fmt::format("the connection broke before the whole reply came{}{}{}",
                     failure.detail.empty() ? "" : " (", failure.detail,
                     failure.detail.empty() ? "" : ")");
}

// The error for a reply that reports no success. Only the beginning of the body goes into the
// message.
HttpError StatusError(const HttpRawReply& reply, const std::string& call) {
  HttpError out;
  out.status = reply.status;
  out.body = reply.body;
  out.message = fmt::format("{}: HTTP {}: {}", call, reply.status,
                            EscapeControls(std::string_view(reply.body).substr(0, 300)));
  if (!reply.location.empty() && reply.status >= 300 && reply.status < 400) {
    out.message += fmt::format("; it redirects to {}: is that the right base URL?",
                               EscapeControls(RedactSecrets(reply.location)));
  }
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
    out.retry_after_s = ParseRetryAfter(reply.retry_after, static_cast<double>(std::time(nullptr)));
  }
  return out;
}

// A URL without its fragment and the slashes at its end, and its query, "" or "?name=value".
std::pair<std::string, std::string> WithoutQuery(std::string url) {
  const size_t at = url.rfind('@');
  url.resize(std::min(url.find('#', at == std::string::npos ? 0 : at), url.size()));
  const size_t mark = std::min(url.find('?'), url.size());
  std::string query = url.substr(mark);
  url.resize(mark);
  while (url.ends_with('/')) url.pop_back();
  return {std::move(url), query == "?" ? "" : std::move(query)};
}

// In lower case and with its port.
std::string FullAuthority(std::string_view authority, bool tls) {
  std::string full = AsciiLower(authority);
  const size_t colon = full.find(':', full.starts_with('[') ? full.find(']') : 0);
  if (colon == std::string::npos) full += tls ? ":443" : ":80";
  return full;
}

// A path without the segments "." and "..".
std::string WithoutDots(std::string_view path) {
  std::vector<std::string_view> kept;
  const std::vector<std::string_view> segments = SplitText(path, '/');
  for (size_t i = 1; i < segments.size(); ++i) {
    const bool up = segments[i] == "..", dots = up || segments[i] == ".";
    if (up && !kept.empty()) kept.pop_back();
    if (!dots) kept.push_back(segments[i]);
    if (dots && i + 1 == segments.size()) kept.push_back("");
  }
  return fmt::format("/{}", fmt::join(kept, "/"));
}

HttpOrigin OriginOf(const std::string& scheme, const std::string& authority) {
  HttpOrigin origin{
      .tls = scheme == "https", .host = {}, .port = {}, .authority = authority, .proxy = {}};
  const size_t host_end =
      authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  origin.host = authority.substr(0, host_end);
  if (origin.host.starts_with('[')) origin.host = origin.host.substr(1, origin.host.size() - 2);
  origin.port = origin.tls ? "443" : "80";
  if (host_end < authority.size()) origin.port = authority.substr(host_end + 1);
  origin.proxy = ProxyFor(origin.tls, origin.host, origin.port, EnvironmentVariables());
  return origin;
}

}  // namespace

HttpError TransportError(const HttpFailure& failure, const std::string& call,
                         const HttpOptions& options) {
  HttpError out;
  const HttpFault fault = failure.fault;
  out.sent = fault != HttpFault::kNoConnection && fault != HttpFault::kConnectSlow &&
             fault != HttpFault::kTls;
  out.kind = KindOf(fault);
  out.message = fmt::format("{}: {}", call, Describe(failure, options));
  return out;
}

// The connections of one base URL. Each serves one call at a time, so each call borrows one; at
// most `max_connections` exist.
class HttpClient::Pool {
 public:
  Pool(HttpOrigin origin, const HttpOptions& options)
      : origin_(std::move(origin)),
        options_(options),
        stop_(*options.stop, options.stop_grace_s),
        tls_(origin_.tls ? MakeTlsContext(options.ca_file) : nullptr) {}

  std::unique_ptr<HttpConnection> Take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return taken_ < options_.max_connections; });
    ++taken_;
    if (idle_.empty()) return Make();
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  // Null after a fault: the connection is gone and its place is free.
  void Return(std::unique_ptr<HttpConnection> connection) {
    {
      std::lock_guard lock(mutex_);
      --taken_;
      if (connection) idle_.push_back(std::move(connection));
    }
    freed_.notify_one();
  }

  std::unique_ptr<HttpConnection> Make() {
    return std::make_unique<HttpConnection>(origin_, options_, stop_, tls_);
  }

  const HttpOrigin& origin() const { return origin_; }
  const std::string& authority() const { return origin_.authority; }
  // The header for a proxy of requests without TLS.
  Secret proxy_authorization() const {
    return origin_.proxy && !origin_.tls ? origin_.proxy->authorization : Secret();
  }
  // What a proxy needs to know before the path of a request without TLS.
  std::string at_proxy() const {
    return origin_.proxy && !origin_.tls ? "http://" + origin_.authority : "";
  }

 private:
  const HttpOrigin origin_;
  const HttpOptions& options_;
  StopTime stop_;
  const TlsContext tls_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;  // guarded by mutex_
  int taken_ = 0;                                      // guarded by mutex_
};

HttpClient::HttpClient(const Secret& base_url, HttpOptions options,
                       std::shared_ptr<CallStats> stats)
    : base_(base_url),
      base_url_(base_url.Redacted()),
      options_(std::move(options)),
      stats_(std::move(stats)) {
  base_url_ = WithoutQuery(std::move(base_url_)).first;
  IgnoreBrokenPipes();
  pool_ = std::make_unique<Pool>(ReadBase(), options_);
  std::string lines;
  for (const auto& [field, value] : options_.headers) {
    if (EscapeControls(value.Reveal()) != value.Reveal()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the value for the header '{}' (such as a key) contains control "
                                   "characters; does it end with a line break?",
                                   field));
    }
    lines += fmt::format("{}: {}\r\n", field, value.Reveal());
  }
  headers_ = Secret::Key(lines);
}

HttpOrigin HttpClient::ReadBase() {
  std::string url;
  std::tie(url, query_) = WithoutQuery(base_.Reveal());
  const size_t scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end);
  std::string authority;
  if (scheme_end != std::string::npos) {
    const size_t begin = scheme_end + 3;
    const size_t path = std::min(url.find('/', begin), url.size());
    authority = url.substr(begin, path - begin);
    prefix_ = url.substr(path);
  }
  if (const size_t at = authority.rfind('@'); at != std::string::npos) {
    options_.headers["Authorization"] = BasicAuthentication(authority.substr(0, at));
    authority.erase(0, at + 1);
  }
  if ((scheme != "http" && scheme != "https") || !IsHostAndPort(authority)) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("'{}' is not a base URL; give one such as http://127.0.0.1:32361{}", base_url_,
                    url.find('@') == std::string::npos
                        ? ""
                        : " (in a password, / : @ are written %2F %3A %40)"));
  }
  return OriginOf(scheme, authority);
}

HttpClient::~HttpClient() = default;

const HttpOrigin& HttpClient::origin() const { return pool_->origin(); }

std::string HttpClient::Target(std::string_view path) const {
  std::string target = prefix_ + std::string(path) + query_;
  // The parameters of a call go before those of the base URL.
  const size_t mark = path.find('?');
  if (mark != std::string_view::npos && !query_.empty()) {
    target[prefix_.size() + path.size()] = '&';
  }
  return target;
}

std::string HttpClient::RequestText(std::string_view method, std::string_view target,
                                    std::string_view body, const std::string& instance,
                                    const std::string& header) const {
  std::string text = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: agentr/{}\r\nAccept: */*\r\n"
      "Accept-Encoding: identity\r\n{}{}",
      method, pool_->at_proxy(), target, pool_->authority(), kVersion, headers_.Reveal(),
      pool_->proxy_authorization().Reveal());
  if (!instance.empty()) text += fmt::format("{}: {}\r\n", kInstanceHeader, instance);
  if (!header.empty()) text += header + "\r\n";
  if (method != "GET") {
    text += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  }
  return text.append("\r\n").append(body);
}

std::optional<std::string> HttpClient::TargetOf(std::string location,
                                                std::string_view target) const {
  location.resize(std::min(location.find('#'), location.size()));
  if (location.empty()) return std::nullopt;
  const std::string scheme = base_.Reveal().substr(0, base_.Reveal().find("://"));
  if (location.starts_with("//")) location = scheme + ":" + location;
  const size_t scheme_end = location.find("://");
  if (scheme_end < location.find_first_of("/?")) {
    const size_t begin = scheme_end + 3;
    const size_t end = std::min(location.find_first_of("/?", begin), location.size());
    const bool tls = scheme == "https";
    const bool same = EqualIgnoringCase(location.substr(0, scheme_end), scheme) &&
                      FullAuthority(location.substr(begin, end - begin), tls) ==
                          FullAuthority(pool_->authority(), tls);
    if (!same) return std::nullopt;
    location.erase(0, end);
    return location.starts_with('/') ? location : "/" + location;
  }
  if (location.starts_with('/')) return location;
  const std::string_view path = target.substr(0, target.find('?'));
  const size_t query = std::min(location.find('?'), location.size());
  if (query == 0) return std::string(path) + location;
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return WithoutDots(std::string(folder) + location.substr(0, query)) + location.substr(query);
}

HttpResult HttpClient::Call(std::string_view method, std::string_view path, std::string_view body,
                            bool repeatable, const std::string& instance, CallLimit until,
                            const std::string& header) {
  const std::string call = fmt::format("{} {}{}", method, base_url_, path);
  std::string target = Target(path);
  std::string request = RequestText(method, target, body, instance, header);
  int redirects = 0;
  auto connection = pool_->Take();
  for (;;) {
    const bool kept = connection->IsOpen();
    auto reply = connection->Exchange(request, until);
    stats_->AddCall(body.size(), reply ? reply->body.size() : 0);
    if (reply && (reply->status == 307 || reply->status == 308) && ++redirects <= kMostRedirects) {
      if (auto next = TargetOf(reply->location, target)) {
        target = std::move(*next);
        request = RequestText(method, target, body, instance, header);
        continue;
      }
    }
    if (reply) {
      pool_->Return(std::move(connection));
      if (reply->status >= 200 && reply->status < 300) {
        return HttpReply{reply->status, std::move(reply->body), std::move(reply->instance),
                         std::move(reply->session)};
      }
      reply->body = WithoutSecrets(std::move(reply->body));
      HttpError error = StatusError(*reply, call);
      stats_->AddError(error.kind);
      return tl::make_unexpected(std::move(error));
    }
    HttpError error = TransportError(reply.error(), call, options_);
    error.message = WithoutSecrets(std::move(error.message));
    if (kept && repeatable && reply.error().fault == HttpFault::kBroken) {
      stats_->AddReconnect();
      connection = pool_->Make();  // the new one does not count as kept, so this happens only once
      continue;
    }
    pool_->Return(nullptr);
    stats_->AddError(error.kind);
    return tl::make_unexpected(std::move(error));
  }
}

std::string HttpClient::WithoutSecrets(std::string text) const {
  for (const auto& [field, value] : options_.headers) text = value.WithoutIt(std::move(text));
  return base_.WithoutIt(std::move(text));
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
  set.Add(flag + "timeout", o.timeout_s, "Seconds to wait without a reply from the " + what)
      .Min(0.001)
      .OnlySpeed();
  set.Add(flag + "attempts", o.retry.attempts, "Attempts per call to the " + what)
      .Min(1)
      .OnlySpeed();
  set.Add(flag + "connections", o.max_connections, "Connections to each " + what)
      .Min(1)
      .OnlySpeed();
  set.Add(flag + "max_reply", o.max_reply, "Largest reply from the " + what + ", bytes")
      .Min(1)
      .OnlySpeed();
  set.Add(flag + "max_reply_head", o.max_reply_head,
          "Largest headers of a reply from the " + what + ", bytes")
      .Min(1)
      .OnlySpeed();
  set.Add(flag + "ca", o.ca_file, "PEM file of the certificates to trust (https)").OnlySpeed();
}

}  // namespace agentr
