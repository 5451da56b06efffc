#include "servers/http/http_service.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clients/http/http_client.h"
#include "common/text.h"
#include "common/version.h"
#include "servers/http/host_names.h"
#include "servers/http/http_metrics.h"
#include "servers/http/http_transport.h"
#include "servers/http/json_text.h"

namespace agentr {
namespace {

constexpr size_t kPathShown = 256;  // bytes of an unknown path that an error message shows

constexpr const char* kHealthy = R"({"status":"ok"})";

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 408:
      return "Request Timeout";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

// The library tries its routes as regular expressions one after the other. So it gets one pattern
// that matches every path, and our routes are looked up by name.
constexpr const char* kAnyPath = R"([\s\S]*)";

// Sends the next piece; false if the connection must be closed because the reply cannot be
// completed.
bool SendNext(const std::function<std::optional<std::string>()>& next, httplib::DataSink& sink) {
  // Sends the previous piece, which the transport buffered; newer versions of the library also call
  // it.
  if (!sink.is_writable()) return false;
  try {
    const std::optional<std::string> piece = next();
    if (piece) return sink.write(piece->data(), piece->size());
    sink.done();
    return true;
  } catch (const std::exception& error) {
    spdlog::error("a streamed reply was interrupted: {}", error.what());
    return false;
  }
}

void SetReply(httplib::Response& response, HttpResponse reply) {
  response.status = reply.status;
  if (reply.stream) {
    response.set_chunked_content_provider(
        reply.content_type, [next = std::move(reply.stream)](size_t, httplib::DataSink& sink) {
          return SendNext(next, sink);
        });
    return;
  }
  response.body = std::move(reply.body);
  response.set_header("Content-Type", reply.content_type);
}

std::string NewInstance() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Without the body, which is still to be read.
HttpRequest RequestOf(const httplib::Request& request) {
  return {.body = {}, .query = {request.params.begin(), request.params.end()}};
}

std::string DefaultErrorBody(const HttpStatusError& error) { return ErrorJson(error.what()); }

}  // namespace

bool HttpRequest::ClientGone() const { return HttpTransport::ClientGone(); }

std::optional<std::string> HttpRequest::Parameter(const std::string& name) const {
  const auto at = query.find(name);
  return at == query.end() ? std::nullopt : std::optional(at->second);
}

class HttpService::Impl {
 public:
  explicit Impl(const HttpServiceOptions& options)
      : max_body_(options.max_body),
        error_body_(options.error_body ? options.error_body : DefaultErrorBody),
        about_(options.about),
        admit_(options.admit),
        names_(options.host, options.allow_host),
        transport_({.max_threads = static_cast<size_t>(options.threads),
                    .check = [this](const RequestHead& head) { return Check(head); },
                    .refusal = [this](const HttpRefusal& refusal) { return RawError(refusal); },
                    .overload = [this](const RequestHead& head) { return Overloaded(head); }}) {
    transport_.set_pre_routing_handler([this](const auto& request, auto& response) {
      return RouteWithoutBody(request, response) ? httplib::Server::HandlerResponse::Handled
                                                 : httplib::Server::HandlerResponse::Unhandled;
    });
    transport_.Post(kAnyPath, [this](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& read) {
      RoutePost(request, response, read);
    });
    transport_.set_error_handler(httplib::Server::Handler(
        [this](const httplib::Request&, httplib::Response& response) { FinishError(response); }));
  }

  void Add(std::string_view method, const std::string& path, HttpHandler handler) {
    auto& routes = method == "GET" ? gets_ : posts_;
    Route& route = routes[path];
    route.name = fmt::format("{} {}", method, path);
    route.handler = std::move(handler);
  }

  std::string Metrics() const {
    std::string out;
    AppendMetricHead("agentr_info", "gauge", "The program's version.", out);
    out += fmt::format("agentr_info{{version=\"{}\"}} 1\n", kVersion);
    AppendMetricHead("agentr_http_requests_total", "counter", "Requests answered.", out);
    for (const auto* routes : {&gets_, &posts_}) {
      for (const auto& [path, route] : *routes) route.metrics.AppendRequests(route.name, out);
    }
    unrouted_.AppendRequests("other", out);
    AppendMetricHead("agentr_http_request_seconds", "histogram", "Time within the handler.", out);
    for (const auto* routes : {&gets_, &posts_}) {
      for (const auto& [path, route] : *routes) route.metrics.AppendLatency(route.name, out);
    }
    AppendMetric("agentr_http_exceptions_total", "counter",
                 "Exceptions of handlers, which are bugs.", exceptions_.load(), out);
    for (const auto& append : more_metrics) append(out);
    return out;
  }

  HttpTransport& transport() { return transport_; }

  std::vector<std::function<void(std::string&)>> more_metrics;

 private:
  struct Route {
    std::string name;
    HttpHandler handler;
    RouteMetrics metrics;
  };
  using Routes = std::unordered_map<std::string, Route>;

  std::optional<HttpRefusal> Check(const RequestHead& head) const {
    const auto reason = names_.Refusal(head.host, head.origin);
    return reason ? std::optional(HttpRefusal{403, *reason}) : std::nullopt;
  }

  // Makes the replies that the transport sends without the library.
  std::string RawReply(int status, const std::string& body, std::string_view more_fields) const {
    return fmt::format(
        "HTTP/1.1 {} {}\r\n{}: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
        "{}Connection: close\r\n\r\n{}",
        status, ReasonPhrase(status), kInstanceHeader, instance_, body.size(), more_fields, body);
  }

  std::string RawError(const HttpRefusal& refusal) {
    unrouted_.Record(refusal.status, {});
    return RawReply(refusal.status, error_body_({refusal.status, refusal.message}), "");
  }

  std::string Overloaded(const RequestHead& head) {
    if (head.method == "GET" && head.target == "/health") return RawReply(200, kHealthy, "");
    unrouted_.Record(503, {});
    const HttpStatusError error(
        503, "All threads of the server are busy; try again, or start it with more --threads.");
    return RawReply(503, error_body_(error), "Retry-After: 1\r\n");
  }

  // Answers all requests except POST, whose body must still be read.
  bool RouteWithoutBody(const httplib::Request& request, httplib::Response& response) {
    response.set_header(kInstanceHeader, instance_);
    if (!IsForThisStart(request)) {
      SetReply(
          response,
          ErrorReply({410, "The session is not valid: the server was restarted after it began."}));
      unrouted_.Record(410, {});
      return true;
    }
    if (!Admitted(request, response)) return true;
    if (request.method == "POST" && posts_.contains(request.path)) return false;
    if (request.method == "GET" || request.method == "HEAD") {
      if (about_ && request.path == "/" && AsksForHtml(request.get_header_value("Accept"))) {
        SetReply(response, {.body = AboutPage(about_(), RouteNames()),
                            .content_type = "text/html; charset=utf-8"});
        unrouted_.Record(response.status, {});
        return true;
      }
      const auto at = gets_.find(request.path);
      if (at != gets_.end()) {
        Answer(at->second, RequestOf(request), response);
        return true;
      }
    }
    Refuse(request, response);
    return true;
  }

  std::vector<std::string> RouteNames() const {
    std::vector<std::string> names;
    for (const auto* routes : {&gets_, &posts_}) {
      for (const auto& [path, route] : *routes) {
        if (path != "/") names.push_back(route.name);
      }
    }
    std::ranges::sort(names);
    return names;
  }

  bool IsForThisStart(const httplib::Request& request) const {
    return !request.has_header(kInstanceHeader) ||
           request.get_header_value(kInstanceHeader) == instance_;
  }

  bool Admitted(const httplib::Request& request, httplib::Response& response) {
    if (!admit_) return true;
    try {
      admit_(request.path, request.get_header_value("Authorization"));
      return true;
    } catch (const HttpStatusError& error) {
      SetReply(response, ErrorReply(error));
      if (error.status() == 401) response.set_header("WWW-Authenticate", "Bearer");
      unrouted_.Record(error.status(), {});
      return false;
    }
  }

  void RoutePost(const httplib::Request& request, httplib::Response& response,
                 const httplib::ContentReader& read) {
    Route& route = posts_.find(request.path)->second;
    HttpRequest ours = RequestOf(request);
    bool too_large = false;
    // Without either header there is no body (RFC 9112, 6.3); the library would wait for one.
    if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) {
      const bool whole = read([&](const char* data, size_t size) {
        too_large = size > max_body_ - ours.body.size();
        if (!too_large) ours.body.append(data, size);
        return !too_large;
      });
      if (!whole) {
        const HttpStatusError error =
            too_large ? HttpStatusError(
                            413, fmt::format("The body is over the limit of {} bytes.", max_body_))
                      : HttpStatusError(400, "The body is incomplete.");
        SetReply(response, ErrorReply(error));
        route.metrics.Record(error.status(), {});
        return;
      }
    }
    Answer(route, ours, response);
  }

  void Answer(Route& route, const HttpRequest& request, httplib::Response& response) {
    const auto begin = std::chrono::steady_clock::now();
    HttpResponse reply;
    try {
      reply = route.handler(request);
    } catch (const HttpStatusError& error) {
      reply = ErrorReply(error);
    } catch (const std::exception& error) {
      ++exceptions_;
      spdlog::error("{}: {}", route.name, error.what());
      reply = ErrorReply({500, fmt::format("Internal error: {}", error.what())});
    }
    route.metrics.Record(reply.status, std::chrono::steady_clock::now() - begin);
    SetReply(response, std::move(reply));
  }

  void Refuse(const httplib::Request& request, httplib::Response& response) {
    const bool known = gets_.contains(request.path) || posts_.contains(request.path);
    const int status = known ? 405 : 404;
    const std::string path = EscapeControls(std::string_view(request.path).substr(0, kPathShown));
    SetReply(response,
             ErrorReply({status, fmt::format("There is no {} {} here.", request.method, path)}));
    unrouted_.Record(status, {});
  }

  HttpResponse ErrorReply(const HttpStatusError& error) const {
    return {.status = error.status(), .body = error_body_(error)};
  }

  // Errors that the library itself detects (a broken request line, headers too long) have no body.
  // After any error the connection ends; see HttpTransport.
  void FinishError(httplib::Response& response) const {
    if (response.body.empty()) {
      SetReply(response, ErrorReply({response.status, "The request is malformed or too long."}));
    }
    response.set_header("Connection", "close");
  }

  const std::string instance_ = NewInstance();
  const size_t max_body_;
  const std::function<std::string(const HttpStatusError&)> error_body_;
  const std::function<AboutText()> about_;
  const std::function<void(const std::string&, const std::string&)> admit_;
  Routes gets_, posts_;
  RouteMetrics unrouted_;
  std::atomic<uint64_t> exceptions_ = 0;
  const HostNames names_;
  HttpTransport transport_;
};

HttpService::HttpService(HttpServiceOptions options)
    : options_(std::move(options)), impl_(std::make_unique<Impl>(options_)) {
  Get("/health", [](const HttpRequest&) { return HttpResponse{.body = kHealthy}; });
  Get("/metrics", [this](const HttpRequest&) {
    return HttpResponse{.body = impl_->Metrics(), .content_type = "text/plain; version=0.0.4"};
  });
}

HttpService::~HttpService() { Stop(); }

void HttpService::Get(const std::string& path, HttpHandler handler) {
  impl_->Add("GET", path, std::move(handler));
}

void HttpService::Post(const std::string& path, HttpHandler handler) {
  impl_->Add("POST", path, std::move(handler));
}

void HttpService::AddMetrics(std::function<void(std::string&)> append) {
  impl_->more_metrics.push_back(std::move(append));
}

void HttpService::Start() {
  port_ = impl_->transport().Bind(options_.host, options_.port);
  // Signals belong to the program's own threads: here a signal would end the accepting loop. The
  // threads that serve connections inherit this mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  accepting_ = std::thread([this] { impl_->transport().Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void HttpService::Stop() {
  if (!accepting_.joinable()) return;
  impl_->transport().Shutdown();
  accepting_.join();
}

std::string HttpService::base_url() const {
  const bool any = options_.host == "0.0.0.0" || options_.host == "::";
  const std::string host = any ? "127.0.0.1" : options_.host;
  const bool ipv6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port_);
}

}  // namespace agentr
