#include "servers/http/http_service.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "servers/http/json_text.h"
#include "tests/common/fatal_error.h"
#include "tests/servers/http/raw_client.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::RawClient;
using ::testing::StartsWith;

class HttpServiceTest : public ::testing::Test {
 protected:
  HttpServiceTest() {
    service_.Post("/echo", [](const HttpRequest& request) {
      std::string body;
      AppendJson(request.body, body);
      return HttpResponse{.body = body};
    });
    service_.Post("/int", [](const HttpRequest& request) {
      return HttpResponse{.body = std::to_string(IntField(ParseObject(request.body), "n"))};
    });
    service_.Post("/throw", [](const HttpRequest&) -> HttpResponse {
      throw std::runtime_error("a \"bug\"");
    });
    service_.Get("/query", [](const HttpRequest& request) {
      return HttpResponse{.body = request.Parameter("x").value_or("none")};
    });
    service_.Start();
  }

  httplib::Client Client() {
    httplib::Client client("127.0.0.1", service_.port());
    client.set_keep_alive(true);
    return client;
  }

  HttpService service_{{.max_body = 1000}};
};

TEST_F(HttpServiceTest, AnswersRoutes) {
  auto client = Client();
  auto reply = client.Post("/echo", "hi \"you\"\n\x01", "text/plain");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, R"("hi \"you\"\n\u0001")");
  EXPECT_EQ(reply->get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(client.Get("/query?x=a%20b")->body, "a b");
  EXPECT_EQ(client.Get("/query")->body, "none");
  EXPECT_EQ(client.Get("/health")->body, R"({"status":"ok"})");
}

TEST_F(HttpServiceTest, WhatIsNotOffered) {
  auto client = Client();
  auto reply = client.Get("/nothing");
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(reply->body, R"({"error":"There is no GET /nothing here."})");
  EXPECT_EQ(client.Post("/nothing", "body", "text/plain")->status, 404);
  EXPECT_EQ(client.Get("/echo")->status, 405);
  EXPECT_EQ(client.Post("/query", "", "text/plain")->status, 405);
  EXPECT_EQ(client.Delete("/echo")->status, 405);
  EXPECT_EQ(client.Get("/" + std::string(5000, 'x'))->status, 404);
  reply = client.Get("/%1b%c3");
  EXPECT_EQ(reply->body, R"({"error":"There is no GET /\\x1b\\xc3 here."})");
}

TEST_F(HttpServiceTest, WrongBodies) {
  auto client = Client();
  const auto post = [&](const std::string& body) {
    auto reply = client.Post("/int", body, "application/json");
    return reply ? std::to_string(reply->status) + " " + reply->body : "no reply";
  };
  EXPECT_EQ(post(R"({"n": 5})"), "200 5");
  EXPECT_EQ(post(R"({"n": )"), R"(400 {"error":"The body is not valid JSON."})");
  EXPECT_EQ(post("{\"n\": \"\xff\"}"), R"(400 {"error":"The body is not valid JSON."})");
  EXPECT_EQ(post("[1]"), R"(422 {"error":"The body must be a JSON object."})");
  EXPECT_EQ(post(""), R"(422 {"error":"The field 'n' is missing."})");
  const std::string no_integer = R"(422 {"error":"The field 'n' must be an integer of 64 bits."})";
  for (const char* value :
       {"5.5", R"("5.5")", R"("")", R"("5 ")", "true", "null", "[5]", "9223372036854775808",
        "18446744073709551615", "1e300", R"("9223372036854775808")"}) {
    EXPECT_EQ(post(std::string(R"({"n": )") + value + "}"), no_integer) << value;
  }
  EXPECT_EQ(post(std::string(900, '[')),
            R"(400 {"error":"The body is nested deeper than 100 levels."})");
}

// As the original servers' library does.
TEST_F(HttpServiceTest, IntegersInOtherWords) {
  auto client = Client();
  for (const char* body : {R"({"n": 5})", R"({"n": "5"})", R"({"n": 5.0})"}) {
    EXPECT_EQ(client.Post("/int", body, "application/json")->body, "5") << body;
  }
  EXPECT_EQ(client.Post("/int", R"({"n": "-9223372036854775808"})", "application/json")->body,
            "-9223372036854775808");
}

TEST_F(HttpServiceTest, ABodyOverTheLimit) {
  auto client = Client();
  EXPECT_EQ(client.Post("/echo", std::string(1000, 'x'), "text/plain")->status, 200);
  auto reply = client.Post("/echo", std::string(1001, 'x'), "text/plain");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
  EXPECT_EQ(reply->body, R"({"error":"The body is over the limit of 1000 bytes."})");
  EXPECT_EQ(client.Post("/echo", std::string(3'000'000, 'x'), "text/plain")->status, 413);
}

TEST_F(HttpServiceTest, AChunkedBodyOverTheLimit) {
  RawClient client(service_.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
      std::string(0x400, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("over the limit")));
}

TEST_F(HttpServiceTest, AnExceptionIsAReplyAndACounter) {
  auto client = Client();
  auto reply = client.Post("/throw", "", "text/plain");
  EXPECT_EQ(reply->status, 500);
  EXPECT_EQ(reply->body, R"({"error":"Internal error: a \"bug\""})");
  EXPECT_EQ(client.Get("/health")->status, 200);
  EXPECT_THAT(client.Get("/metrics")->body, HasSubstr("agentr_http_exceptions_total 1\n"));
}

TEST_F(HttpServiceTest, Metrics) {
  auto client = Client();
  client.Post("/echo", "a", "text/plain");
  client.Post("/echo", "a", "text/plain");
  client.Post("/int", "{", "application/json");
  client.Get("/nothing");
  auto reply = client.Get("/metrics");
  EXPECT_THAT(reply->get_header_value("Content-Type"), StartsWith("text/plain"));
  EXPECT_THAT(
      reply->body,
      AllOf(HasSubstr("agentr_info{version=\"0."),
            HasSubstr("agentr_http_requests_total{route=\"POST /echo\",status=\"200\"} 2\n"),
            HasSubstr("agentr_http_requests_total{route=\"POST /int\",status=\"400\"} 1\n"),
            HasSubstr("agentr_http_requests_total{route=\"other\",status=\"404\"} 1\n"),
            HasSubstr("agentr_http_request_seconds_bucket{route=\"POST /echo\",le=\"+Inf\"} 2\n"),
            HasSubstr("agentr_http_request_seconds_count{route=\"POST /echo\"} 2\n")));
}

TEST_F(HttpServiceTest, RequestsInOnePacketAreAnsweredInOrder) {
  RawClient client(service_.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\none"
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\ntwo");
  EXPECT_THAT(client.ReadUntil("\"one\""), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(client.ReadUntil("\"two\""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServiceTest, ARequestInSmallPieces) {
  RawClient client(service_.port());
  for (const char c :
       std::string_view("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi")) {
    client.Send({&c, 1});
  }
  EXPECT_THAT(client.ReadUntil("\"hi\""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServiceTest, APostWithoutALengthHasNoBody) {
  RawClient client(service_.port());
  client.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\"\""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServiceTest, Expect100Continue) {
  RawClient client(service_.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  client.Send("hi");
  EXPECT_THAT(client.ReadUntil("\"hi\""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServiceTest, AnErrorEndsTheConnection) {
  RawClient client(service_.port());
  client.Send(
      "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30\r\n\r\nPOST /echo "
      "HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("Connection: close"), EndsWith("}")));
}

TEST_F(HttpServiceTest, NonsenseIsAnError) {
  RawClient client(service_.port());
  client.Send("what is this\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("malformed")));
}

TEST_F(HttpServiceTest, AClientMayAskToClose) {
  RawClient client(service_.port());
  client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith(R"({"status":"ok"})"));
}

// Each of many connections is served while all the others stay open, and stopping does not wait
// for any of them (the test would hang).
TEST_F(HttpServiceTest, ManyOpenConnections) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 700; ++i) {
    clients.push_back(std::make_unique<RawClient>(service_.port()));
    clients.back()->Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (auto& client : clients) {
    EXPECT_THAT(client->ReadUntil("}"), EndsWith(R"({"status":"ok"})"));
  }
  for (auto& client : clients) client->Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (auto& client : clients) {
    EXPECT_THAT(client->ReadUntil("}"), EndsWith(R"({"status":"ok"})"));
  }
  service_.Stop();
  EXPECT_EQ(clients[0]->ReadToEnd(), "");
}

TEST_F(HttpServiceTest, StopsTwiceAndUnused) {
  ASSERT_TRUE(Client().Get("/query"));
  service_.Stop();
  EXPECT_FALSE(Client().Get("/query"));
  service_.Stop();
  EXPECT_FALSE(Client().Get("/query"));
  const auto never_started = std::make_unique<HttpService>(HttpServiceOptions{});
  EXPECT_EQ(never_started->port(), 0);
  auto at_once = std::make_unique<HttpService>(HttpServiceOptions{});
  at_once->Start();
  httplib::Client client("127.0.0.1", at_once->port());
  at_once.reset();
  EXPECT_FALSE(client.Get("/health"));
}

// What a handler is at when the service stops is answered.
TEST(HttpServiceLimitTest, StoppingFinishesRepliesUnderWay) {
  HttpService service(HttpServiceOptions{});
  std::atomic<bool> entered = false;
  std::atomic<bool> go = false;
  service.Get("/slow", [&](const HttpRequest&) {
    entered = true;
    entered.notify_all();
    go.wait(false);
    return HttpResponse{.body = "done"};
  });
  service.Start();
  RawClient client(service.port());
  client.Send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  entered.wait(false);
  std::thread stopper([&] { service.Stop(); });
  go = true;
  go.notify_all();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("done"));
  stopper.join();
}

TEST(HttpServiceLimitTest, StoppingDoesNotMakeClientsLookGone) {
  HttpService service(HttpServiceOptions{});
  std::atomic<bool> entered = false;
  service.Get("/slow", [&](const HttpRequest& request) {
    entered = true;
    entered.notify_all();
    bool gone = false;
    for (int i = 0; i < 50; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      gone = gone || request.ClientGone();
    }
    return HttpResponse{.body = gone ? "gone" : "there"};
  });
  service.Start();
  RawClient client(service.port());
  client.Send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  entered.wait(false);
  service.Stop();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("there"));
}

// Each piece is there before the next is made: a piece waits for the client to have read the one
// before.
TEST(HttpServiceStreamTest, PiecesComeOneByOne) {
  HttpService service(HttpServiceOptions{});
  std::atomic<int> read = 0;
  service.Post("/count", [&](const HttpRequest&) {
    return HttpResponse{.stream = [&, n = 0]() mutable -> std::optional<std::string> {
      read.wait(n - 1);
      if (n == 3) return std::nullopt;
      return "piece " + std::to_string(n++);
    }};
  });
  service.Start();
  RawClient client(service.port());
  client.Send("POST /count HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (int n = 0; n < 3; ++n) {
    EXPECT_THAT(client.ReadUntil("piece " + std::to_string(n)), HasSubstr("piece"));
    read = n + 1;
    read.notify_all();
  }
  EXPECT_THAT(client.ReadUntil("0\r\n\r\n"), EndsWith("0\r\n\r\n"));
  client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");  // the connection goes on
  EXPECT_THAT(client.ReadUntil("}"), StartsWith("HTTP/1.1 200 OK"));
}

TEST(HttpServiceStreamTest, AStreamIsDestroyedWhenTheClientIsGone) {
  HttpService service(HttpServiceOptions{});
  std::atomic<bool> gone = false;
  service.Get("/endless", [&](const HttpRequest&) {
    const std::shared_ptr<void> guard(nullptr, [&](void*) {
      gone = true;
      gone.notify_all();
    });
    return HttpResponse{.stream = [guard] { return std::optional<std::string>("more"); }};
  });
  service.Start();
  {
    RawClient client(service.port());
    client.Send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.ReadUntil("more");
    EXPECT_FALSE(gone);
  }
  gone.wait(false);
}

TEST(HttpServiceStreamTest, AnExceptionCutsTheReply) {
  HttpService service(HttpServiceOptions{});
  service.Get("/broken", [&](const HttpRequest&) {
    return HttpResponse{.stream = [n = 0]() mutable -> std::optional<std::string> {
      if (n++ == 0) return "begun";
      throw std::runtime_error("a bug");
    }};
  });
  service.Start();
  RawClient client(service.port());
  client.Send("GET /broken HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("begun\r\n"));  // no end of the chunks
}

TEST(HttpServiceOptionsTest, ErrorsAndAdmissionAreTheServicesOwn) {
  HttpService service({.max_body = 10,
                       .error_body =
                           [](const HttpStatusError& error) {
                             return std::to_string(error.status()) + "/" + error.code() + "/" +
                                    error.field();
                           },
                       .admit =
                           [](const std::string& path, const std::string& authorization) {
                             if (path == "/secret" && authorization != "me") {
                               throw HttpStatusError(401, "no", "who");
                             }
                           }});
  service.Post("/secret", [](const HttpRequest&) -> HttpResponse {
    throw HttpStatusError(400, "bad", "code", "field");
  });
  service.Start();
  httplib::Client client("127.0.0.1", service.port());
  const auto post = [&](const std::string& body, const std::string& who) {
    return client.Post("/secret", {{"Authorization", who}}, body, "text/plain");
  };
  EXPECT_EQ(post("", "you")->body, "401/who/");
  EXPECT_EQ(post("", "you")->get_header_value("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(post("", "me")->body, "400/code/field");
  EXPECT_EQ(post(std::string(11, 'x'), "me")->body, "413//");
  EXPECT_EQ(client.Get("/nothing")->body, "404//");
}

TEST(HttpServiceBindTest, ATakenPort) {
  HttpService first(HttpServiceOptions{});
  first.Start();
  HttpService second({.port = first.port()});
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { second.Start(); }),
              AllOf(HasSubstr("in use"), HasSubstr("--port")));
}

TEST(HttpServiceBindTest, AHostThatIsNotHere) {
  HttpService service({.host = "203.0.113.7"});
  EXPECT_THROW(service.Start(), FatalError);
}

TEST(HttpServiceBindTest, BaseUrlIsForClientsHere) {
  HttpService service({.host = "0.0.0.0"});
  service.Start();
  EXPECT_EQ(service.base_url(), "http://127.0.0.1:" + std::to_string(service.port()));
}

TEST(AboutPageTest, OnlyBrowsersGetIt) {
  HttpService service({.about = [] {
    return AboutText{"test_server", "a <b> & c", "use --base"};
  }});
  service.Get("/", [](const HttpRequest&) { return HttpResponse{.body = "\"ok\""}; });
  service.Post("/step", [](const HttpRequest&) { return HttpResponse{}; });
  service.Start();
  httplib::Client client("127.0.0.1", service.port());
  EXPECT_EQ(client.Get("/")->body, "\"ok\"");
  EXPECT_EQ(client.Get("/", httplib::Headers{{"Accept", "*/*"}})->body, "\"ok\"");
  const auto page =
      client.Get("/", httplib::Headers{{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}});
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page->body, AllOf(HasSubstr("a &lt;b&gt; &amp; c"), HasSubstr("<li>POST /step</li>"),
                                HasSubstr("<a href=\"/health\">/health</a>")));
}

}  // namespace
}  // namespace agentr
