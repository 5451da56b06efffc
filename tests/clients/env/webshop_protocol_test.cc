#include "clients/env/webshop_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "clients/env/http_environment.h"
#include "tasks/task_kinds.h"
#include "tests/clients/expect_error.h"
#include "tests/tasks/public_webshop.h"

namespace agentr {
namespace {

using testing::HasSubstr;

const std::unique_ptr<Protocol> kWebShop = MakeProtocol("webshop");

TEST(WebShopProtocol, WritesBodies) {
  EXPECT_EQ(kWebShop->family(), "webshop");
  EXPECT_EQ(kWebShop->CreateBody(), "");
  EXPECT_EQ(kWebShop->ResetBody(7, 12), R"({"env_idx":7,"session_id":12})");
  EXPECT_EQ(kWebShop->StepBody(7, "click[\"a\"]"), R"({"action":"click[\"a\"]","env_idx":7})");
  EXPECT_EQ(kWebShop->ExpandBody(7, {"a", "b"}), R"({"actions":["a","b"],"env_idx":7})");
  EXPECT_EQ(kWebShop->CloseBody(7), R"({"env_idx":7})");
}

TEST(WebShopProtocol, ReadsReplies) {
  EXPECT_EQ(kWebShop->ParseCreate("3"), 3);
  EXPECT_EQ(kWebShop->ParseCreate(" 0\n"), 0);
  EXPECT_EQ(kWebShop->ParseReset(R"(["WebShop [SEP] x", null])"), "WebShop [SEP] x");
  EXPECT_EQ(
      kWebShop->ParseStep(R"({"state": "x", "reward": 0.75, "done": true, "info": null})").value(),
      (StepResult{"x", 0.75, true}));
  const auto forks = kWebShop->ParseExpand(
      R"({"children": [{"env_idx": 8, "state": "y", "reward": 0, "done": false, "info": null}]})",
      1);
  ASSERT_EQ(forks.value().size(), 1u);
  EXPECT_EQ(forks->front().id, 8);
  EXPECT_EQ(forks->front().step, (StepResult{"y", 0, false}));
}

TEST(WebShopProtocol, SaysWhatIsWrong) {
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(kWebShop->ParseCreate("{}"), bad, "/create reply: is not an integer");
  ExpectError(kWebShop->ParseCreate("1.5"), bad, "/create reply: is not an integer");
  ExpectError(kWebShop->ParseCreate("null"), bad, "/create reply: is not an integer");
  ExpectError(kWebShop->ParseCreate("<html>"), bad, "/create reply");
  ExpectError(kWebShop->ParseCreate(""), bad, "not JSON");
  ExpectError(kWebShop->ParseReset("[]"), bad, "/reset reply: is not a pair");
  ExpectError(kWebShop->ParseReset("[null, null]"), bad, "/reset reply: is not a pair");
  ExpectError(kWebShop->ParseReset(R"("WebShop")"), bad, "/reset reply: is not a pair");
  ExpectError(kWebShop->ParseReset(R"(["x")"), bad, "not JSON");
  ExpectError(kWebShop->ParseStep(R"({"observation": "x", "reward": 1, "done": true})"), bad,
              "'state' is missing");
  ExpectError(kWebShop->ParseExpand(R"({"children": [{"id": 1}]})", 1), bad,
              "child 0: field 'env_idx'");
}

TEST(WebShopProtocol, AnErrorOfTheEnvironmentIsNoReply) {
  const char* lost = R"({"error": "The env_idx 7 is not valid."})";
  const auto environment = ErrorKind::kEnvironment;
  ExpectError(kWebShop->ParseCreate(lost), environment, "The env_idx 7 is not valid.");
  ExpectError(kWebShop->ParseReset(lost), environment, "The env_idx 7 is not valid.");
  ExpectError(kWebShop->ParseStep(lost), environment, "The env_idx 7 is not valid.");
  ExpectError(kWebShop->ParseExpand(lost, 1), environment, "The env_idx 7 is not valid.");
  EXPECT_TRUE(kWebShop->IsLostSession(kWebShop->ParseReset(lost).error()));
  const auto other = kWebShop->ParseReset(R"({"error": "no goal 99999"})");
  ExpectError(other, environment, "no goal 99999");
  EXPECT_FALSE(kWebShop->IsLostSession(other.error()));
}

TEST(WebShopProtocol, PublicServersThatKnowNoCloseAreAskedOnce) {
  PublicWebShop server;
  HttpEnvironment shop(MakeProtocol("webshop"), {server.url()}, HttpOptions{});
  EXPECT_FALSE(shop.CanExpand());
  for (int i = 0; i < 3; ++i) {
    const auto session = shop.Open().value();
    EXPECT_THAT(session->Reset(1).value(), HasSubstr("coffee mug"));
    EXPECT_THAT(session->Step("search[mug]").value().observation, HasSubstr("Page 1"));
  }
  EXPECT_EQ(server.calls("/create"), 3);
  EXPECT_EQ(server.calls("/close"), 1);
  EXPECT_EQ(shop.stats().errors(ErrorKind::kRejected), 0) << "nothing went wrong";
}

}  // namespace
}  // namespace agentr
