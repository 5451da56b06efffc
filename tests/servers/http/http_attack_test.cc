// Clients that want to harm: more bytes than a server should store, connections that only take
// room, requests that hide another one, web pages.
#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "servers/http/http_service.h"
#include "tests/servers/http/raw_client.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawClient;
using ::testing::StartsWith;

class HttpAttackTest : public ::testing::Test {
 protected:
  HttpAttackTest() {
    service_.Post("/echo",
                  [](const HttpRequest& request) { return HttpResponse{.body = request.body}; });
    service_.Start();
  }

  // Everything that is answered to these bytes until the server closes.
  std::string AnswerTo(const std::string& bytes) {
    RawClient client(service_.port());
    client.Send(bytes);
    return client.ReadToEnd();
  }

  HttpService service_{HttpServiceOptions{}};
};

TEST_F(HttpAttackTest, HeaderLinesWithoutEnd) {
  const std::string first = "GET /health HTTP/1.1\r\nHost: localhost\r\n";
  std::string lines;
  for (int i = 0; i < 101; ++i) lines += "X: y\r\n";
  EXPECT_THAT(AnswerTo(first + lines), AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("\"error\"")));
  EXPECT_THAT(AnswerTo(first + "X: " + std::string(9000, 'y')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(AnswerTo("GET /" + std::string(9000, 'y')), StartsWith("HTTP/1.1 414 "));
}

// Each is answered with 400, once, and the connection ends: nothing behind it is taken for a
// request.
TEST_F(HttpAttackTest, RequestsThatHideAnother) {
  const std::string hidden = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n";
  for (const std::string& head : {
           "GET /health HTTP/1.1\r\nHost: localhost\r\n" + length + "\r\n",
           "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + length + "\r\n",
           std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"),
           std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: +0\r\n\r\n"),
           std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0, 0\r\n\r\n"),
           std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
           std::string(
               "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n"),
           std::string(
               "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
               "+0\r\n\r\n"),
       }) {
    EXPECT_THAT(AnswerTo(head + hidden),
                AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("Connection: close"), EndsWith("}"),
                      Not(HasSubstr("agentr_info"))))
        << head;
  }
}

TEST_F(HttpAttackTest, AChunkedBodyEndsWhereItSays) {
  RawClient client(service_.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=y\r\nhello\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("hello"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(client.ReadUntil("}"), EndsWith(R"({"status":"ok"})"));
}

// Many ranges of one reply, or a body of many parts, are nothing that these servers know.
TEST_F(HttpAttackTest, HeadersThatTheLibraryWouldAnswer) {
  RawClient client(service_.port());
  client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1,0-1,0-1\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("}"), EndsWith(R"({"status":"ok"})"));
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
      "Content-Type: multipart/form-data; boundary=x\r\n\r\nhello");
  EXPECT_THAT(client.ReadUntil("hello"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpAttackTest, WebPagesOfOthers) {
  EXPECT_THAT(AnswerTo("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("--allow_host evil.example")));
  EXPECT_THAT(AnswerTo("POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n"
                       "Origin: http://evil.example\r\n\r\nhi"),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("Origin")));
}

// Silent connections take all threads; a newcomer gets the thread of one of them.
TEST(HttpCrowdTest, SilentConnectionsMakeRoom) {
  HttpService service({.threads = 8});
  service.Start();
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(std::make_unique<RawClient>(service.port()));
    silent.back()->Send("GET /health HTTP/1.1\r\nHost: localhost\r\nX:");  // half a head
  }
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string reply;
  do {  // at first they may still be about to send the rest
    RawClient client(service.port());
    client.Send(request);
    reply = client.ReadUntil("\r\n");
  } while (reply.starts_with("HTTP/1.1 503"));
  EXPECT_EQ(reply, "HTTP/1.1 200 OK\r\n");
}

TEST(HttpCrowdTest, WithAllThreadsBusyHealthIsAnsweredAndOthersAreRefused) {
  HttpService service({.threads = 1});
  std::atomic<bool> entered = false;
  std::atomic<bool> go = false;
  service.Get("/slow", [&](const HttpRequest&) {
    entered = true;
    entered.notify_all();
    go.wait(false);
    return HttpResponse{.body = "done"};
  });
  service.Start();
  RawClient busy(service.port());
  busy.Send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  entered.wait(false);
  RawClient silent(service.port());
  RawClient health(service.port());
  health.Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(health.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("Agentr-Instance"),
                                        EndsWith(R"({"status":"ok"})")));
  RawClient other(service.port());
  other.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(other.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 1"),
                                       HasSubstr("--threads")));
  go = true;
  go.notify_all();
  EXPECT_THAT(busy.ReadUntil("done"), EndsWith("done"));
}

}  // namespace
}  // namespace agentr
