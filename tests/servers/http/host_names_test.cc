#include "servers/http/host_names.h"

#include <gmock/gmock.h>

namespace agentr {
namespace {

using ::testing::HasSubstr;

TEST(HostNamesTest, ALoopbackServerIsReachedByNamesOfThisMachine) {
  const HostNames names("127.0.0.1", {});
  for (const char* host :
       {"127.0.0.1:36001", "localhost", "LOCALHOST:1", "[::1]:8000", "127.1.2.3", ""}) {
    EXPECT_EQ(names.Refusal(host, std::nullopt), std::nullopt) << host;
  }
  for (const char* host : {"evil.example", "evil.example:36001", "localhost.evil.example",
                           "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "[", "0.0.0.0"}) {
    EXPECT_NE(names.Refusal(host, std::nullopt), std::nullopt) << host;
  }
  EXPECT_THAT(*names.Refusal("evil.example:1", std::nullopt),
              HasSubstr("--allow_host evil.example"));
}

TEST(HostNamesTest, PagesOfOthersAreRefused) {
  const HostNames names("localhost", {});
  EXPECT_EQ(names.Refusal("localhost", "http://localhost:3000"), std::nullopt);
  EXPECT_EQ(names.Refusal("localhost", "http://[::1]"), std::nullopt);
  EXPECT_NE(names.Refusal("localhost", "https://evil.example"), std::nullopt);
  EXPECT_NE(names.Refusal("localhost", "null"), std::nullopt);
  EXPECT_NE(names.Refusal("localhost", "localhost"), std::nullopt);  // no origin is written so
}

TEST(HostNamesTest, AllowedNames) {
  const HostNames names("127.0.0.1", {"Gate.example"});
  EXPECT_EQ(names.Refusal("gate.example:80", "https://gate.example"), std::nullopt);
  EXPECT_NE(names.Refusal("evil.example", std::nullopt), std::nullopt);
  EXPECT_EQ(HostNames("127.0.0.1", {"*"}).Refusal("evil.example", "null"), std::nullopt);
}

TEST(HostNamesTest, AServerForOthersChecksWhereItIsToldNames) {
  EXPECT_EQ(HostNames("0.0.0.0", {}).Refusal("box.example", "http://page.example"), std::nullopt);
  const HostNames names("10.0.0.5", {"box.example"});
  EXPECT_EQ(names.Refusal("box.example", std::nullopt), std::nullopt);
  EXPECT_EQ(names.Refusal("10.0.0.5:1", std::nullopt), std::nullopt);
  EXPECT_NE(names.Refusal("evil.example", std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace agentr
