#include "servers/webshop_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "servers/env_server.h"
#include "tests/games/webshop/small_shop.h"
#include "tests/servers/env_client.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WebShopServiceTest : public ::testing::Test {
 protected:
  explicit WebShopServiceTest(bool extensions = true, SessionLimits limits = {})
      : server_(std::make_unique<WebShopService<PageShop>>(testing::SharedSmallShop({.seed = 1}),
                                                           limits, extensions),
                HttpServiceOptions{}) {}

  int64_t Open(int goal) {
    const int64_t id = client_.Post("/create", json::object()).get<int64_t>();
    client_.Post("/reset", {{"env_idx", id}, {"session_id", goal}});
    return id;
  }
  json Step(int64_t id, const std::string& action) {
    return client_.Post("/step", {{"env_idx", id}, {"action", action}});
  }
  json About(int64_t id, const std::string& what) {
    return client_.Get("/" + what + "?env_idx=" + std::to_string(id));
  }

  EnvServer server_;
  EnvClient client_{server_.port()};
  const WebShop shop_ = testing::SmallShop({.seed = 1});
};

TEST_F(WebShopServiceTest, SpeaksTheProtocolToTheLetter) {
  EXPECT_EQ(client_.Get("/"), "ok");
  EXPECT_EQ(client_.Get("/list_envs"), json::array());
  EXPECT_EQ(client_.Post("/create", nullptr), 0) << "a body that is null, or none, will do";
  EXPECT_EQ(client_.Post("/create", json::object()), 1);
  EXPECT_EQ(client_.Get("/list_envs"), json({0, 1}));
  const std::string text = shop_.Instruction(shop_.Start(3));
  EXPECT_EQ(client_.Post("/reset", {{"env_idx", 1}, {"session_id", 3}}),
            json({"WebShop [SEP] Instruction: [SEP] " + text + " [SEP] Search", nullptr}));
  EXPECT_EQ(About(1, "observation"), "WebShop [SEP] Instruction: [SEP] " + text + " [SEP] Search");
  EXPECT_EQ(About(1, "instruction_text"), "Instruction: " + text);
  EXPECT_EQ(About(1, "available_actions"),
            json({{"has_search_bar", true}, {"clickables", {"search"}}}));
  const json step = Step(1, "search[<q> tea]");
  EXPECT_THAT(step.at("state").get<std::string>(),
              StartsWith("Instruction: [SEP] " + text +
                         " [SEP] Back to Search [SEP] Page 1 (Total results: 4) [SEP] Next > "
                         "[SEP] B000000007 [SEP] No Attributes Here [SEP] $100.0"));
  EXPECT_EQ(About(1, "instruction_text"), "Instruction:" + text)
      << "a blank on the first page only";
  EXPECT_EQ(step.at("reward"), 0.0);
  EXPECT_EQ(step.at("done"), false);
  EXPECT_EQ(step.at("info"), nullptr);
  EXPECT_EQ(step.size(), 4U);
  EXPECT_EQ(client_.Post("/close", {{"env_idx", 1}}), true);
  EXPECT_EQ(client_.Post("/close", {{"env_idx", 1}}), false);
  EXPECT_EQ(client_.Get("/list_envs"), json({0}));
}

TEST_F(WebShopServiceTest, ANewSessionAndANullResetShowADrawnGoal) {
  std::set<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    const int64_t id = client_.Post("/create", json::object());
    seen.insert(About(id, "instruction_text").get<std::string>());
    client_.Post("/reset", {{"env_idx", id}, {"session_id", nullptr}});
    seen.insert(About(id, "instruction_text").get<std::string>());
    client_.Post("/reset", {{"env_idx", id}});
    seen.insert(About(id, "instruction_text").get<std::string>());
  }
  EXPECT_GT(seen.size(), 8U);
}

TEST_F(WebShopServiceTest, APurchaseEndsTheSessionAndTellsWhy) {
  const int64_t id = Open(0);
  EXPECT_EQ(About(id, "state").at("reward"), nullptr);
  Step(id, "search[<q> water bottle]");
  Step(id, "click[b000000001]");
  const json done = Step(id, "click[buy now]");
  EXPECT_EQ(done.at("done"), true);
  const json state = About(id, "state");
  EXPECT_EQ(state.at("reward").at("reward"), done.at("reward"));
  EXPECT_EQ(state.at("reward").at("attributes_wanted"),
            shop_
                .Reward([&] {
                  WebShopState same = shop_.Start(0);
                  for (const auto* action :
                       {"search[<q> water bottle]", "click[b000000001]", "click[buy now]"}) {
                    shop_.Step(same, action);
                  }
                  return same;
                }())
                .attributes_wanted);
  EXPECT_EQ(state.at("instruction_text"), About(id, "instruction_text"));
  EXPECT_THAT(state.at("html").get<std::string>(), HasSubstr("Thank you for shopping with us!"));
  EXPECT_THAT(state.at("url").get<std::string>(), HasSubstr("/done/0/B000000001/"));
  EXPECT_EQ(Step(id, "click[buy now]").at("done"), false);
}

class ArcherServiceTest : public ::testing::Test {
 protected:
  EnvServer server_{
      std::make_unique<WebShopService<ArcherShop>>(testing::SharedSmallShop({.seed = 1}),
                                                   SessionLimits{}, /*extensions=*/true),
      HttpServiceOptions{}};
  EnvClient client_{server_.port()};
};

TEST_F(ArcherServiceTest, SpeaksTheSameProtocol) {
  EXPECT_EQ(client_.Get("/version").at("task"), "webshop_archer");
  const int64_t id = client_.Post("/create", json::object());
  const json first = client_.Post("/reset", {{"env_idx", id}, {"session_id", 3}});
  EXPECT_THAT(first.at(0).get<std::string>(), StartsWith("\nObservation:\n\nWebShop \n"));
  EXPECT_EQ(first.at(1), nullptr);
  const auto about = [&](int64_t session, const std::string& what) {
    return client_.Get("/" + what + "?env_idx=" + std::to_string(session));
  };
  EXPECT_EQ(about(id, "observation"), first.at(0));
  const json step = client_.Post("/step", {{"env_idx", id}, {"action", "search[lamp]"}});
  EXPECT_THAT(step.at("state").get<std::string>(),
              AllOf(StartsWith("\nObservation:\n\nWebShop \n"),
                    HasSubstr("\nAction:\nsearch[lamp]\nObservation:\n\n[Back to Search] \n")));
  EXPECT_EQ(about(id, "available_actions"),
            json({{"has_search_bar", false}, {"clickables", {"Back to Search", "B000000005"}}}));
  const json forks = client_.Post(
      "/expand", {{"env_idx", id}, {"actions", {"click[B000000005]", "click[nothing]"}}});
  const json& bought = client_.Post(
      "/step", {{"env_idx", forks["children"][0]["env_idx"]}, {"action", "click[Buy Now]"}});
  EXPECT_EQ(bought.at("done"), true);
  EXPECT_THAT(forks["children"][1]["state"].get<std::string>(),
              HasSubstr("\nObservation:\nInvalid action!\nInstruction:\n"));
  EXPECT_EQ(about(id, "observation"), step.at("state")) << "a fork leaves the session as it is";
  EXPECT_THAT(client_.Post("/reset", {{"env_idx", id}, {"session_id", 999}}).at("error").dump(),
              HasSubstr("there are the goals 0 to"));
}

// As the original's templates write it: keys in order, and nothing that html takes for its own.
TEST(WebShopDonePage, ChosenOptionsInJson) {
  WebShopState state;
  const WebShop shop = testing::SmallShop({.seed = 1});
  state = shop.Start(0);
  state.place = ShopPlace::kDone;
  state.chosen = {{"size", "5'<6>"}, {"color", "b&w\"é"}};
  EXPECT_THAT(
      shop.Observation(state),
      HasSubstr(
          R"([SEP] options [SEP] {"color": "b\u0026w\"\u00e9", "size": "5\u0027\u003c6\u003e"} [SEP] attrs)"));
}

TEST_F(WebShopServiceTest, ErrorsAreClear) {
  const int64_t id = Open(0);
  EXPECT_EQ(Step(7, "search[x]").at("error"), "The env_idx 7 is not valid.");
  EXPECT_EQ(About(7, "state").at("error"), "The env_idx 7 is not valid.");
  EXPECT_EQ(client_.Post("/reset", {{"env_idx", 7}, {"session_id", 0}}).at("error"),
            "The env_idx 7 is not valid.");
  for (const int goal : {-1, static_cast<int>(shop_.task_count())}) {
    EXPECT_THAT(client_.Post("/reset", {{"env_idx", id}, {"session_id", goal}})
                    .at("error")
                    .get<std::string>(),
                AllOf(HasSubstr(std::to_string(goal)), HasSubstr("0 to 18")));
    EXPECT_EQ(client_.status(), 200);
  }
  EXPECT_EQ(client_.PostStatus("/step", {{"env_idx", id}}), 422);
  EXPECT_EQ(client_.PostStatus("/step", {{"env_idx", "zero"}, {"action", "x"}}), 422);
  EXPECT_EQ(client_.PostStatus("/reset", {{"env_idx", id}, {"session_id", "x"}}), 422);
  EXPECT_EQ(client_.GetStatus("/observation?env_idx=x"), 422);
}

TEST_F(WebShopServiceTest, ExpandTakesEachActionOnAForkOfTheSession) {
  const int64_t id = Open(0);
  Step(id, "search[<q> water bottle]");
  const json before = About(id, "observation");
  const json children =
      client_
          .Post("/expand",
                {{"env_idx", id}, {"actions", {"click[b000000001]", "click[next >]", "nothing"}}})
          .at("children");
  ASSERT_EQ(children.size(), 3U);
  EXPECT_EQ(About(id, "observation"), before);
  EXPECT_EQ(children[2].at("state"), before);
  // Each fork goes on by itself, as a session that took the action.
  Step(id, "click[b000000001]");
  EXPECT_EQ(children[0].at("state"), About(id, "observation"));
  EXPECT_EQ(Step(children[0].at("env_idx"), "click[red]"), Step(id, "click[red]"));
  EXPECT_EQ(Step(children[0].at("env_idx"), "click[buy now]"), Step(id, "click[buy now]"));
  EXPECT_EQ(client_.Post("/close", {{"env_idx", id}}), true);
  EXPECT_TRUE(Step(children[0].at("env_idx"), "nothing").contains("error")) << "forks close too";
}

TEST_F(WebShopServiceTest, VersionNamesTheShop) {
  const json version = client_.Get("/version");
  EXPECT_EQ(version.at("task"), "webshop");
  EXPECT_EQ(version.at("data_hash"), shop_.data_hash());
  EXPECT_EQ(version.at("tasks"), shop_.task_count());
  EXPECT_EQ(version.at("extensions"), json({"expand"}));
}

class PlainWebShopTest : public WebShopServiceTest {
 protected:
  PlainWebShopTest()
      : WebShopServiceTest(/*extensions=*/false, {.ttl_s = 3600, .max_sessions = 2}) {}
};

TEST_F(PlainWebShopTest, OffersNoExtensionsWhereTheyAreTurnedOff) {
  EXPECT_EQ(client_.GetStatus("/version"), 404);
  EXPECT_EQ(client_.PostStatus("/expand", {{"env_idx", 0}, {"actions", json::array()}}), 404);
}

TEST_F(PlainWebShopTest, LimitsItsSessions) {
  Open(0);
  Open(1);
  EXPECT_EQ(client_.PostStatus("/create", json::object()), 503);
}

TEST_F(WebShopServiceTest, ManySessionsAtOnceDoNotMeet) {
  constexpr int kThreads = 8;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      EnvClient client(server_.port());
      const int64_t id = client.Post("/create", json::object());
      for (int round = 0; round < 20; ++round) {
        const int goal = (t + round) % static_cast<int>(shop_.task_count());
        client.Post("/reset", {{"env_idx", id}, {"session_id", goal}});
        WebShopState expected = shop_.Start(static_cast<size_t>(goal));
        for (const std::string action :
             {"search[bottle]", "click[b000000002]", "click[24 oz]", "click[buy now]"}) {
          shop_.Step(expected, action);
          const json step = client.Post("/step", {{"env_idx", id}, {"action", action}});
          ASSERT_EQ(step.at("state"), shop_.Observation(expected));
          ASSERT_EQ(step.at("reward"), expected.reward);
        }
      }
    });
  }
}

}  // namespace
}  // namespace agentr
