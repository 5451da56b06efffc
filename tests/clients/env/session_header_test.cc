// Sessions that a server names in a cookie or another header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "clients/env/dialect_protocol.h"
#include "clients/env/http_environment.h"
#include "tests/clients/http/local_server.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Counts the steps of each session, which the value of `header` names.
class CountingServer {
 public:
  CountingServer(const std::string& header, bool cookies, bool named_in_body) {
    server_->Post("/create", [=, this](const httplib::Request&, httplib::Response& reply) {
      const std::string name = "s" + std::to_string(++created_);
      if (cookies) {
        reply.headers.emplace("Set-Cookie", "sid=" + name + "; Path=/; HttpOnly");
        reply.headers.emplace("Set-Cookie", "lane=2");
      } else if (!named_in_body) {
        reply.headers.emplace(header, name);
      }
      reply.set_content(named_in_body ? json({{"id", name}}).dump() : "{}", "application/json");
    });
    for (const char* const path : {"/reset", "/step", "/close"}) {
      server_->Post(path, [=, this](const httplib::Request& request, httplib::Response& reply) {
        const std::string session = request.get_header_value(header);
        const json body = json::parse(request.body);
        if (body.contains("id")) ++bodies_with_id_;
        int& steps = steps_[session];
        if (request.path == "/step") ++steps;
        if (request.path == "/close") closed_.push_back(session);
        const json step = {
            {"observation", session + " " + std::to_string(steps)}, {"reward", 0}, {"done", false}};
        reply.set_content(step.dump(), "application/json");
      });
    }
    server_.Start();
  }

  std::string url() const { return server_.url(); }
  int bodies_with_id() const { return bodies_with_id_; }
  const std::vector<std::string>& closed() const { return closed_; }

 private:
  int created_ = 0, bodies_with_id_ = 0;
  std::map<std::string, int> steps_;
  std::vector<std::string> closed_;
  LocalServer server_;  // last: its threads use the others
};

HttpDialect Named(const std::string& header) {
  HttpDialect dialect;
  dialect.name = "counting";
  dialect.session_header = header;
  for (HttpDialect::Call* call : {&dialect.reset, &dialect.step, &dialect.close})
    call->body.erase("id");
  return dialect;
}

// Two sessions take turns.
void ExpectTwoSessions(const CountingServer& server, const std::string& header,
                       const std::string& before, const std::string& behind) {
  {
    HttpEnvironment environment(std::make_unique<DialectProtocol>(Named(header)), {server.url()},
                                HttpOptions{});
    const auto one = environment.Open().value(), other = environment.Open().value();
    EXPECT_EQ(one->Reset(0).value(), before + "s1" + behind + " 0");
    EXPECT_EQ(other->Reset(0).value(), before + "s2" + behind + " 0");
    EXPECT_EQ(one->Step("a")->observation, before + "s1" + behind + " 1");
    EXPECT_EQ(other->Step("a")->observation, before + "s2" + behind + " 1");
    EXPECT_EQ(one->Step("a")->observation, before + "s1" + behind + " 2");
  }
  EXPECT_THAT(server.closed(),
              testing::UnorderedElementsAre(before + "s1" + behind, before + "s2" + behind));
  EXPECT_EQ(server.bodies_with_id(), 0);
}

TEST(SessionHeader, CookiesGoBackToTheServer) {
  const CountingServer server("Cookie", /*cookies=*/true, /*named_in_body=*/false);
  ExpectTwoSessions(server, kCookieHeader, "sid=", "; lane=2");
}

TEST(SessionHeader, AHeaderOfTheReplyGoesBack) {
  const CountingServer server("X-Session-ID", /*cookies=*/false, /*named_in_body=*/false);
  ExpectTwoSessions(server, "X-Session-ID", "", "");
}

TEST(SessionHeader, AnIdInTheBodyGoesIntoTheHeader) {
  const CountingServer server("X-Session-ID", /*cookies=*/false, /*named_in_body=*/true);
  ExpectTwoSessions(server, "x-session-id", "", "");
}

TEST(SessionHeader, AValueThatWouldBeginAnotherHeaderIsRefused) {
  const DialectProtocol protocol(Named("X-Session-ID"));
  EXPECT_TRUE(protocol.ParseSession("a b=c"));
  const auto broken = protocol.ParseSession("a\rX-Evil: 1");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("control characters"));
}

}  // namespace
}  // namespace agentr
