#include "clients/http/proxy.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "clients/http/http_client.h"
#include "tests/clients/expect_error.h"
#include "tests/clients/http/raw_server.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Variable Variables(const std::map<std::string, std::string>& values) {
  return [values](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? "" : found->second;
  };
}

// "host:port" of the proxy for a server, or "" for none.
std::string Proxy(const std::map<std::string, std::string>& values, bool tls,
                  const std::string& host, const std::string& port = "443") {
  const auto proxy = ProxyFor(tls, host, port, Variables(values));
  return proxy ? proxy->host + ":" + proxy->port : "";
}

TEST(Proxy, IsThatOfTheVariables) {
  const std::map<std::string, std::string> both = {{"http_proxy", "http://plain:3128"},
                                                   {"https_proxy", "secure:8080/"}};
  EXPECT_EQ(Proxy(both, false, "api.example.org"), "plain:3128");
  EXPECT_EQ(Proxy(both, true, "api.example.org"), "secure:8080");
  EXPECT_EQ(Proxy({{"HTTPS_PROXY", "http://upper"}}, true, "api.example.org"), "upper:80");
  EXPECT_EQ(Proxy({{"HTTP_PROXY", "http://upper"}}, false, "api.example.org"), "");
  EXPECT_EQ(Proxy({{"ALL_PROXY", "http://[::2]:5"}}, true, "api.example.org"), "::2:5");
  EXPECT_EQ(Proxy({}, true, "api.example.org"), "");
}

TEST(Proxy, IsNotUsedForThisMachineAndExcludedHosts) {
  std::map<std::string, std::string> all = {{"all_proxy", "http://p:1"}};
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_EQ(Proxy(all, false, host), "") << host;
  }
  all["no_proxy"] = "intern, .example.org,*.example.net , 10.0.0.1:8000";
  for (const char* host :
       {"intern", "a.intern", "example.org", "API.Example.org", "a.example.net"}) {
    EXPECT_EQ(Proxy(all, true, host), "") << host;
  }
  EXPECT_EQ(Proxy(all, true, "notintern"), "p:1");
  EXPECT_EQ(Proxy(all, true, "badexample.org"), "p:1");
  EXPECT_EQ(Proxy(all, false, "10.0.0.1", "8000"), "");
  EXPECT_EQ(Proxy(all, false, "10.0.0.1", "8001"), "p:1");
  EXPECT_EQ(Proxy({{"all_proxy", "http://p:1"}, {"NO_PROXY", "*"}}, true, "example.org"), "");
}

TEST(Proxy, ExcludedHostsMayBeNetworksAndAddresses) {
  std::map<std::string, std::string> all = {{"all_proxy", "HTTP://p:1/"}};
  for (const char* host : {"0.0.0.0", "::"}) EXPECT_EQ(Proxy(all, false, host), "") << host;
  all["no_proxy"] = "10.1.0.0/16 192.168.0.0/23,fd00::/8\t[fe80::1]:8000,2001:db8::5,172.16.0.1";
  for (const char* host : {"10.1.255.7", "192.168.1.1", "fd12::9", "2001:db8:0::5", "172.16.0.1"}) {
    EXPECT_EQ(Proxy(all, false, host), "") << host;
  }
  for (const char* host : {"10.2.0.1", "192.168.2.1", "fe80::2", "10.1.0.0.example.org", "x"}) {
    EXPECT_EQ(Proxy(all, false, host), "p:1") << host;
  }
  EXPECT_EQ(Proxy(all, false, "fe80::1", "8000"), "");
  EXPECT_EQ(Proxy(all, false, "fe80::1", "8001"), "p:1");
  all["no_proxy"] = "10.0.0.0/33,10.0.0.0/x,/8,10/8";  // none is a network
  EXPECT_EQ(Proxy(all, false, "10.0.0.1"), "p:1");
}

TEST(Proxy, OtherKindsAreRefusedWithoutTheirPassword) {
  for (const char* url : {"socks5://ann:secret@p:1", "http://ann:secret@", "http://p:port"}) {
    const auto ask = [&] { Proxy({{"https_proxy", url}}, true, "api.example.org"); };
    EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, ask),
                AllOf(HasSubstr("https_proxy"), HasSubstr("no_proxy="), Not(HasSubstr("secret"))))
        << url;
  }
}

// Sets a variable of the environment as long as it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { ::unsetenv(name_); }

 private:
  const char* const name_;
};

TEST(Proxy, GetsTheWholeUrlOfARequestWithoutTls) {
  RawServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const std::string address = proxy.url().substr(7);
  const Setting setting("http_proxy", "http://ann:pw@" + address);
  HttpClient client("http://api.example.org:81/v1", {}, std::make_shared<CallStats>());
  const HttpResult reply = client.Get("/models");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "ok");
  EXPECT_THAT(proxy.received(),
              AllOf(StartsWith("GET http://api.example.org:81/v1/models HTTP/1.1\r\n"),
                    HasSubstr("\r\nHost: api.example.org:81\r\n"),
                    HasSubstr("\r\nProxy-Authorization: Basic YW5uOnB3\r\n")));
  EXPECT_EQ(client.header_lines().Reveal(), "") << "WebSockets send them to the server itself";
}

TEST(Proxy, OpensATunnelForTls) {
  RawServer proxy("HTTP/1.1 200 Connection established\r\n\r\n", RawServer::kCloseAtSecond);
  const Setting setting("https_proxy", proxy.url());
  HttpOptions options;
  options.connect_timeout_s = 0.3;
  HttpClient client("https://api.example.org/v1", options, std::make_shared<CallStats>());
  EXPECT_FALSE(client.Get("/models")) << "the proxy says nothing more";
  proxy.Stop();
  // A handshake of TLS (its first byte is 22) for the server's name follows the request.
  const std::string head =
      "CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n";
  ASSERT_THAT(proxy.received(), StartsWith(head + "\x16\x03"));
  EXPECT_THAT(proxy.received().substr(head.size()), HasSubstr("api.example.org"));
}

TEST(Proxy, ThatRefusesIsNamed) {
  RawServer proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  const Setting setting("https_proxy", proxy.url());
  HttpClient client("https://api.example.org/v1", {}, std::make_shared<CallStats>());
  ExpectError(client.Get("/models"), ErrorKind::kUnreachable,
              "through the proxy 127.0.0.1:", "407 Proxy Authentication Required");
}

}  // namespace
}  // namespace agentr
