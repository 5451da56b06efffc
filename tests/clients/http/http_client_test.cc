#include "clients/http/http_client.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/clients/expect_error.h"
#include "tests/clients/http/local_server.h"
#include "tests/clients/http/raw_server.h"
#include "tests/common/fatal_error.h"

// Takes the place of the system's function in this program: "two.localhost" has two addresses.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host == nullptr || std::string_view(host) != "two.localhost") {
    return real(host, port, hints, found);
  }
  if (const int error = real("127.0.0.2", port, hints, found); error != 0) return error;
  return real("127.0.0.1", port, hints, &(*found)->ai_next);
}

namespace agentr {
namespace {

using testing::HasSubstr;

struct Dialled {
  std::shared_ptr<CallStats> stats = std::make_shared<CallStats>();
  HttpClient client;
  explicit Dialled(const std::string& url, const HttpOptions& options = {})
      : client(url, options, stats) {}
};

HttpError ErrorOf(const HttpResult& result) {
  EXPECT_FALSE(result);
  return result ? HttpError{} : result.error();
}

TEST(HttpClient, SendsThePathPrefixHeadersAndBody) {
  LocalServer server;
  server->Post("/v1/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(
        request.get_header_value("X-Key") + request.body + request.get_header_value("Content-Type"),
        "text/plain");
  });
  server.Start();
  HttpOptions options;
  options.headers["X-Key"] = "k";
  Dialled d(server.url() + "/v1/", options);
  const auto reply = d.client.Post("/echo", "{}", true);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "k{}application/json");
  EXPECT_EQ(d.stats->Json()["bytes_sent"], 2);
}

TEST(HttpClient, ConnectionsAreUsedAgain) {
  LocalServer server;
  server->Get("/", [](const auto&, auto& response) { response.set_content("ok", "text/plain"); });
  server.Start();
  Dialled d(server.url());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(d.client.Get("/"));
  EXPECT_EQ(server.connections(), 1u);
}

TEST(HttpClient, ManyThreadsShareABoundedPool) {
  LocalServer server;
  std::atomic<int> now = 0, most = 0;
  server->Get("/", [&](const auto&, auto& response) {
    const int here = ++now;
    int seen = most;
    while (here > seen && !most.compare_exchange_weak(seen, here)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --now;
    response.set_content("ok", "text/plain");
  });
  server.Start();
  HttpOptions options;
  options.max_connections = 4;
  Dialled d(server.url(), options);
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 64; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) good += d.client.Get("/").has_value();
      });
    }
  }
  EXPECT_EQ(good, 320);
  EXPECT_LE(most, 4);
  EXPECT_LE(server.connections(), 4u);
}

TEST(HttpClient, RefusedPort) {
  RawServer gone("");
  const std::string url = gone.url();
  gone.Stop();
  Dialled d(url);
  const HttpError error = ErrorOf(d.client.Get("/x"));
  EXPECT_EQ(error.kind, ErrorKind::kUnreachable);
  EXPECT_FALSE(error.sent);
  EXPECT_THAT(error.message, HasSubstr("GET " + url +
                                       "/x: cannot connect (Connection refused); is the server "
                                       "running"));
  EXPECT_EQ(d.stats->errors(ErrorKind::kUnreachable), 1);
}

TEST(HttpClient, SilentServer) {
  RawServer server("", RawServer::kHold);
  HttpOptions options;
  options.timeout_s = 0.05;
  Dialled d(server.url(), options);
  const HttpError error = ErrorOf(d.client.Get("/"));
  EXPECT_EQ(error.kind, ErrorKind::kTimeout);
  EXPECT_TRUE(error.sent);
  EXPECT_THAT(error.message, HasSubstr("no reply in 0.05 s"));
}

TEST(HttpClient, CutReplies) {
  for (const char* reply :
       {"", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}) {
    RawServer server(reply);
    Dialled d(server.url());
    const HttpError error = ErrorOf(d.client.Post("/", "{}", true));
    EXPECT_EQ(error.kind, ErrorKind::kUnreachable) << reply;
    EXPECT_TRUE(error.sent);
    EXPECT_EQ(server.requests(), 1) << "a fresh connection is not replaced";
  }
}

TEST(HttpClient, AKeptConnectionThatTheServerClosesIsReplacedWhereHarmless) {
  // Two replies per connection, the second of which never comes.
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RawServer::kCloseAtSecond);
  Dialled d(server.url());
  ASSERT_TRUE(d.client.Post("/", "{}", true));
  ASSERT_TRUE(d.client.Post("/", "{}", true));
  EXPECT_EQ(d.stats->reconnects(), 1);
  EXPECT_EQ(d.stats->errors(ErrorKind::kUnreachable), 0);
  const HttpError error = ErrorOf(d.client.Post("/", "{}", false));
  EXPECT_EQ(error.kind, ErrorKind::kUnreachable);
  EXPECT_TRUE(error.sent);
}

// Sends `begin`, then `more` again and again, until its client is gone.
class EndlessServer {
 public:
  EndlessServer(const std::string& begin, const std::string& more)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_, 1);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, begin, more] {
      const int client = ::accept(socket_, nullptr, nullptr);
      bool sent = ::send(client, begin.data(), begin.size(), MSG_NOSIGNAL) > 0;
      while (sent) sent = ::send(client, more.data(), more.size(), MSG_NOSIGNAL) > 0;
      ::close(client);
      ::close(socket_);
    });
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  const int socket_;
  int port_ = 0;
  std::jthread thread_;
};

TEST(HttpClient, RepliesWithoutEndAreRefusedAtTheLimit) {
  HttpOptions options;
  options.max_reply = 100'000;
  options.max_reply_head = 10'000;
  const std::string block(10'000, 'x');
  struct Case {
    std::string begin, more, what;
  };
  for (const Case& c :
       {Case{"HTTP/1.1 200 OK\r\n\r\n", block, "over 100000 bytes"},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", block, "over 100000 bytes"},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2710\r\n" + block + "\r\n",
             "over 100000 bytes"},
        Case{"HTTP/1.1 200 OK\r\n", "A: b\r\n", "headers are over the limit"},
        Case{"HTTP/1.1 200 OK\r\nA: ", block, "headers are over the limit"}}) {
    EndlessServer server(c.begin, c.more);
    Dialled d(server.url(), options);
    const HttpError error = ErrorOf(d.client.Get("/"));
    EXPECT_EQ(error.kind, ErrorKind::kRejected) << c.begin;
    EXPECT_THAT(error.message, HasSubstr(c.what));
  }
}

// The run is stopped while a reply comes that would go on for ever (the test would hang).
TEST(HttpClient, StoppingEndsAReplyWithoutEnd) {
  EndlessServer server("HTTP/1.1 200 OK\r\n\r\n", "x");
  std::atomic<bool> stop = false;
  HttpOptions options;
  options.max_reply = SIZE_MAX;
  options.stop = &stop;
  Dialled d(server.url(), options);
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  EXPECT_EQ(ErrorOf(d.client.Get("/")).kind, ErrorKind::kCancelled);
}

TEST(HttpClient, ARunThatIsStoppedStillMakesShortCalls) {
  LocalServer server;
  server->Get("/", [](const auto&, auto& response) { response.set_content("ok", "text/plain"); });
  server.Start();
  const std::atomic<bool> stop = true;
  HttpOptions options;
  options.stop = &stop;
  Dialled d(server.url(), options);
  EXPECT_TRUE(d.client.Get("/"));
}

TEST(HttpClient, ErrorTextsAreShownEscaped) {
  RawServer server("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n\x1b[2J");
  Dialled d(server.url());
  EXPECT_THAT(ErrorOf(d.client.Get("/")).message, HasSubstr("HTTP 404: \\x1b[2J"));
}

// The time of a call counts, although the next byte always comes soon (the test would hang).
TEST(HttpClient, ACallEndsAtItsLimitHoweverSlowlyTheReplyComes) {
  EndlessServer server("HTTP/1.1 200 OK\r\n\r\n", "x");
  HttpOptions options;
  options.max_reply = SIZE_MAX;
  Dialled d(server.url(), options);
  const HttpError error = ErrorOf(
      d.client.Get("/", "", std::chrono::steady_clock::now() + std::chrono::milliseconds(50)));
  EXPECT_EQ(error.kind, ErrorKind::kTimeout);
  EXPECT_THAT(error.message, HasSubstr("within the time of the call"));
}

TEST(HttpClient, ACallWhoseTimeIsOverIsNotMade) {
  RawServer server("", RawServer::kHold);
  Dialled d(server.url());
  EXPECT_EQ(ErrorOf(d.client.Get("/", "", std::chrono::steady_clock::now())).kind,
            ErrorKind::kTimeout);
  EXPECT_EQ(server.requests(), 0);
}

// With many callers, each with a time of its own, the end of a run would take long.
TEST(HttpClient, AllCallsOfAStoppedRunShareTheirTime) {
  RawServer server("", RawServer::kHold);
  const std::atomic<bool> stop = true;
  HttpOptions options;
  options.stop = &stop;
  options.stop_grace_s = 0.05;
  Dialled d(server.url(), options);
  EXPECT_EQ(ErrorOf(d.client.Get("/")).kind, ErrorKind::kCancelled);
  EXPECT_EQ(server.requests(), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ErrorOf(d.client.Get("/")).kind, ErrorKind::kCancelled);
  EXPECT_EQ(server.requests(), 1);
}

TEST(HttpClient, HostsHaveNames) {
  LocalServer server;
  server->Get("/", [](const auto&, auto& response) { response.set_content("ok", "text/plain"); });
  server.Start();
  Dialled d("http://localhost:" + std::to_string(server.port()));
  EXPECT_TRUE(d.client.Get("/"));
}

TEST(HttpClient, AnAddressThatAnswersNothingLeavesTimeForTheNext) {
  LocalServer server;
  server->Get("/", [](const auto&, auto& response) { response.set_content("ok", "text/plain"); });
  server.Start();
  // A full queue of connections drops further ones.
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.port()));
  ::inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  std::vector<int> sockets;
  for (int i = 0; i < 4; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    if (i > 0) {
      ::connect(sockets.back(), at, sizeof address);
      continue;
    }
    ASSERT_EQ(::bind(sockets.back(), at, sizeof address), 0);
    ::listen(sockets.back(), 0);
  }
  HttpOptions options;
  options.connect_timeout_s = 1;
  Dialled d("http://two.localhost:" + std::to_string(server.port()), options);
  const auto reply = d.client.Get("/");
  EXPECT_TRUE(reply) << reply.error().message;
  for (const int socket : sockets) ::close(socket);
}

// Passwords.

TEST(HttpClient, UserAndPasswordOfTheUrlAreSentAsBasicAuthentication) {
  LocalServer server;
  server->Get("/v1/x", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.get_header_value("Authorization"), "text/plain");
  });
  server.Start();
  const std::string at = "127.0.0.1:" + std::to_string(server.port()) + "/v1/";
  const auto sent = [&](const std::string& user) {
    Dialled d("http://" + user + "@" + at);
    const HttpResult reply = d.client.Get("/x");
    return reply ? reply->body : reply.error().message;
  };
  EXPECT_EQ(sent("ann:open sesame"), "Basic YW5uOm9wZW4gc2VzYW1l");  // of RFC 7617's kind
  EXPECT_EQ(sent("ann:p%40ss"), "Basic YW5uOnBAc3M=");               // ann:p@ss
  EXPECT_EQ(sent("token"), "Basic dG9rZW46");                        // token:
}

TEST(HttpClient, ThePasswordOfTheUrlIsInNoMessage) {
  LocalServer server;
  server->Get("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.status = 403;
    response.set_content(request.get_header_value("Authorization") + ", which is ann:hunter2",
                         "text/plain");
  });
  server.Start();
  RawServer gone("");
  const std::string dead = gone.url().substr(7);
  gone.Stop();
  RawServer silent("", RawServer::kHold);
  HttpOptions options;
  options.timeout_s = 0.05;
  options.headers["X-Key"] = Secret::Key("sesame-1");
  for (const std::string& host : {server.url().substr(7), dead, silent.url().substr(7)}) {
    Dialled d("http://ann:hunter2@" + host, options);
    const HttpError error = ErrorOf(d.client.Get("/echo"));
    EXPECT_THAT(error.message, HasSubstr("GET http://ann:***@" + host + "/echo"));
    for (const std::string& text : {error.message, error.body, d.client.base_url()}) {
      for (const char* secret : {"hunter2", "YW5uOmh1bnRlcjI=", "sesame"}) {
        EXPECT_THAT(text, testing::Not(HasSubstr(secret)));
      }
    }
  }
  for (const char* url :
       {"http://ann:hunter2@host:abc/v1", "ftp://ann:hunter2@host", "http://ann:hun/ter2@host"}) {
    EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { Dialled d{url}; }),
                testing::AllOf(HasSubstr("://ann:***@host"), testing::Not(HasSubstr("hun"))))
        << url;
  }
}

TEST(HttpClient, AKeyWithALineBreakIsRefused) {
  HttpOptions options;
  options.headers["Authorization"] = "Bearer k\n";
  EXPECT_THROW(Dialled d("http://127.0.0.1", options), FatalError);
}

TEST(HttpClient, ErrorsByStatus) {
  LocalServer server;
  server->Get(R"(/(\d+))", [](const httplib::Request& request, httplib::Response& response) {
    response.status = std::stoi(request.matches[1]);
    response.set_header("Retry-After", "7");
    response.set_content("the reason", "text/plain");
  });
  server.Start();
  Dialled d(server.url());
  struct Case {
    int status;
    ErrorKind kind;
    double retry_after_s;
  };
  for (const Case& c : {Case{429, ErrorKind::kRateLimited, 7}, Case{503, ErrorKind::kServer, 7},
                        Case{500, ErrorKind::kServer, 7}, Case{408, ErrorKind::kTimeout, 7},
                        Case{404, ErrorKind::kRejected, 0}, Case{422, ErrorKind::kRejected, 0}}) {
    const HttpError error = ErrorOf(d.client.Get("/" + std::to_string(c.status)));
    EXPECT_EQ(error.kind, c.kind) << c.status;
    EXPECT_EQ(error.status, c.status);
    EXPECT_EQ(error.retry_after_s, c.retry_after_s) << c.status;
    EXPECT_EQ(error.body, "the reason");
    EXPECT_THAT(error.message, HasSubstr("HTTP " + std::to_string(c.status) + ": the reason"));
  }
  EXPECT_EQ(server.connections(), 1u) << "a status is no fault of the connection";
}

TEST(HttpClient, RefusesWhatIsNoUrl) {
  for (const char* url : {"", "localhost:80", "ftp://host", "http://", "http:///v1",
                          "http://host:", "http://host:99999999999/v1", "http://host:70000",
                          "http://host:0", "http://host:abc/v1", "http://[::1]80", "http://[::1"}) {
    EXPECT_THROW(Dialled d(url), FatalError) << url;
  }
  for (const char* url : {"http://host", "https://host/v1", "http://host:80/v1", "http://[::1]:80/",
                          "http://[::1]"}) {
    EXPECT_NO_THROW(Dialled d(url)) << url;
  }
}

TEST(HttpClient, TheQueryOfTheBaseUrlStaysBehindThePath) {
  LocalServer server;
  server->Get("/v1/echo", [](const auto& request, auto& response) {
    response.set_content(request.target, "text/plain");
  });
  server.Start();
  const auto target = [&](const std::string& base, const std::string& path) {
    HttpClient client(server.url() + base, {}, std::make_shared<CallStats>());
    return client.Get(path).value().body;
  };
  EXPECT_EQ(target("/v1?api-version=1", "/echo"), "/v1/echo?api-version=1");
  EXPECT_EQ(target("/v1/?api-version=1", "/echo?id=2"), "/v1/echo?id=2&api-version=1");
  EXPECT_EQ(target("/v1/?", "/echo"), "/v1/echo");
  EXPECT_EQ(target("/v1/?a=b#part", "/echo"), "/v1/echo?a=b");
  EXPECT_EQ(target("/v1/#part?a=b", "/echo"), "/v1/echo");
}

TEST(HttpClient, FollowsRedirectionsOfTheSameServerThatRepeatTheRequest) {
  LocalServer server;
  server->Post("/step", [&](const auto&, auto& response) {
    response.status = 307;
    response.set_header("Location", server.url() + "/slash/");
  });
  server->Post("/slash/", [&](const auto&, auto& response) {
    response.status = 308;
    response.set_header("Location", "/end?a=b");
  });
  server->Post("/end", [](const auto& request, auto& response) {
    response.set_content(request.target + request.body, "text/plain");
  });
  for (const auto& [path, location] : {std::pair("/away", "http://192.0.2.1/end"),
                                       {"/twisted", "//192.0.2.1/end"},
                                       {"/circle", "/circle"}}) {
    server->Post(path, [location](const auto&, auto& response) {
      response.status = 308;
      response.set_header("Location", location);
    });
  }
  server.Start();
  HttpClient client(server.url(), {}, std::make_shared<CallStats>());
  const HttpResult reply = client.Post("/step", "{}", true);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "/end?a=b{}");
  for (const char* path : {"/away", "/twisted", "/circle"}) {
    SCOPED_TRACE(path);
    ExpectError(client.Post(path, "{}", true), ErrorKind::kRejected, "redirects to ");
  }
}

TEST(HttpClient, LocationsAreReadAsUrlsAre) {
  LocalServer server;
  std::string location;
  server->Post("/v1/a/step", [&](const auto& request, auto& response) {
    if (request.has_param("x")) return response.set_content(request.target, "text/plain");
    response.status = 308;
    response.set_header("Location", location);
  });
  server->Post(".*", [](const auto& request, auto& response) {
    response.set_content(request.target, "text/plain");
  });
  server.Start();
  HttpClient client(server.url() + "/v1?k=v", {}, std::make_shared<CallStats>());
  const std::string authority = server.url().substr(7);
  for (const auto& [said, target] : {std::pair<std::string, std::string>("step/", "/v1/a/step/"),
                                     {"../step?x=1", "/v1/step?x=1"},
                                     {"./step/#top", "/v1/a/step/"},
                                     {"../../..", "/"},
                                     {"?x=1", "/v1/a/step?x=1"},
                                     {"//" + authority + "/end", "/end"},
                                     {"HTTP://" + authority + "/end", "/end"},
                                     {"http://" + authority, "/"},
                                     {"http://" + authority + "?x=1", "/?x=1"},
                                     {"/end?to=http://192.0.2.1/", "/end?to=http://192.0.2.1/"}}) {
    location = said;
    const HttpResult reply = client.Post("/a/step", "{}", true);
    ASSERT_TRUE(reply) << said << ": " << reply.error().message;
    EXPECT_EQ(reply->body, target) << said;
  }
  for (const char* other : {"https://192.0.2.1/end", "http://192.0.2.1", "#top", "ftp://x/y"}) {
    location = other;
    EXPECT_FALSE(client.Post("/a/step", "{}", true)) << other;
  }
}

TEST(RetryAfter, IsSecondsOrADate) {
  const double now = 1445412480;  // Wed, 21 Oct 2015 07:28:00 GMT
  EXPECT_EQ(ParseRetryAfter("12", now), 12);
  EXPECT_EQ(ParseRetryAfter("0.5", now), 0.5);
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2015 07:28:30 GMT", now), 30);
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2015 07:27:30 GMT", now), 0);
  for (const char* bad : {"", "soon", "-3", "inf", "nan"}) EXPECT_EQ(ParseRetryAfter(bad, now), 0);
}

}  // namespace
}  // namespace agentr
