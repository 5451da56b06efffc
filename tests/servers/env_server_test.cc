#include "servers/env_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "common/random.h"
#include "servers/textcraft_service.h"
#include "tests/clients/http/local_server.h"
#include "tests/common/fatal_error.h"
#include "tests/common/silent_peer.h"
#include "tests/games/textcraft/books.h"
#include "tests/servers/env_client.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<EnvServer> Serve(SessionLimits limits = {}, bool extensions = true,
                                 SessionStore<TextCraftState>::Clock clock = MonotonicSeconds) {
  return std::make_unique<EnvServer>(
      std::make_unique<TextCraftService>(TextCraft(testing::SmallBook()), limits, extensions,
                                         clock),
      HttpServiceOptions{});
}

class EnvServerTest : public ::testing::Test {
 protected:
  const std::unique_ptr<EnvServer> server_ = Serve();
  const TextCraft game_{testing::SmallBook()};
  EnvClient client_{server_->port()};
};

TEST_F(EnvServerTest, Root) { EXPECT_EQ(client_.Get("/"), "This is environment TextCraft."); }

TEST_F(EnvServerTest, CreateShowsTheTaskOfItsId) {
  EXPECT_EQ(client_.Post("/create", json::object()),
            json({{"id", 0}, {"observation", game_.Prompt(0)}, {"done", false}, {"reward", 0}}));
  const json second = client_.Post("/create", {{"commands", "craft x"}, {"goal", nullptr}});
  EXPECT_EQ(second.at("id"), 1);
  EXPECT_EQ(second.at("observation"), game_.Prompt(1));
}

TEST_F(EnvServerTest, ResetStepAndDetail) {
  const int64_t id = client_.Create(0);
  EXPECT_EQ(client_.Step(id, "get 1 oak log"),
            json({{"observation", "Got 1 oak log"}, {"reward", 0}, {"done", false}}));
  const json done = client_.Step(id, "craft 4 oak planks using 1 oak log");
  EXPECT_EQ(
      done,
      json({{"observation", "Crafted 4 minecraft:oak_planks"}, {"reward", 1}, {"done", true}}));
  EXPECT_TRUE(done.at("reward").is_number_integer());
  EXPECT_EQ(client_.Get(fmt::format("/observation?id={}", id)), "Crafted 4 minecraft:oak_planks");
  json detail = done;
  detail["deleted"] = false;
  EXPECT_EQ(client_.Get(fmt::format("/detail?id={}", id)), detail);

  EXPECT_EQ(client_.Post("/reset", {{"id", id}, {"data_idx", 3}}),
            json({{"id", id}, {"observation", game_.Prompt(3)}, {"done", false}, {"reward", 0}}));
  EXPECT_EQ(client_.Step(id, "inventory").at("observation"),
            "Inventory: You are not carrying anything.");
  EXPECT_EQ(client_.Post("/reset", {{"id", id}}).at("observation"), game_.Prompt(0));
  EXPECT_EQ(
      client_.Post("/reset", {{"id", std::to_string(id)}, {"data_idx", 3.0}}).at("observation"),
      game_.Prompt(3));
  client_.Post("/reset", {{"id", id}, {"data_idx", 3}});
  EXPECT_EQ(client_.Get(fmt::format("/observation?id={}", id)), game_.Prompt(3));
}

TEST_F(EnvServerTest, TextsSurviveTheTrip) {
  const int64_t id = client_.Create(0);
  const std::string action = "say \"größe\"\t\\ \u2028 \x01 \U0001F600\n";
  EXPECT_EQ(client_.Step(id, action).at("observation"), "Could not execute " + action);
}

TEST_F(EnvServerTest, UnknownAndClosedIds) {
  const json error = {{"error", "The id 7 is not valid."}};
  EXPECT_EQ(client_.Step(7, "inventory"), error);
  EXPECT_EQ(client_.status(), 200);
  EXPECT_EQ(client_.Post("/reset", {{"id", 7}, {"data_idx", 0}}), error);
  EXPECT_EQ(client_.Get("/observation?id=7"), error);
  EXPECT_EQ(client_.Get("/detail?id=7"), error);
  EXPECT_EQ(client_.Post("/expand", {{"id", 7}, {"actions", {"inventory"}}}), error);
  EXPECT_EQ(client_.Post("/close", {{"id", 7}}), false);
  const int64_t id = client_.Create(0);
  EXPECT_EQ(client_.Post("/close", {{"id", id}}), true);
  EXPECT_EQ(client_.Post("/close", {{"id", id}}), false);
  EXPECT_TRUE(client_.Step(id, "inventory").contains("error"));
}

TEST_F(EnvServerTest, WrongTypes) {
  const auto status = [&](const std::string& path, const json& body) {
    const json reply = client_.Post(path, body);
    EXPECT_TRUE(reply.at("error").is_string());
    return client_.status();
  };
  EXPECT_EQ(status("/step", {{"id", 0}}), 422);
  EXPECT_EQ(status("/step", {{"id", 0}, {"action", 5}}), 422);
  EXPECT_EQ(status("/step", {{"id", "zero"}, {"action", "inventory"}}), 422);
  EXPECT_EQ(status("/close", {{"id", nullptr}}), 422);
  EXPECT_EQ(status("/create", {{"goal", 5}}), 422);
  EXPECT_EQ(status("/expand", {{"id", 0}, {"actions", "inventory"}}), 422);
  EXPECT_EQ(status("/expand", {{"id", 0}, {"actions", {1}}}), 422);
  EXPECT_EQ(status("/expand", {{"id", 0}, {"actions", std::vector<std::string>(1025)}}), 422);
  EXPECT_EQ(client_.GetStatus("/observation?id=x"), 422);
  EXPECT_EQ(client_.GetStatus("/detail"), 422);
}

TEST_F(EnvServerTest, Version) {
  const json version = client_.Get("/version");
  EXPECT_EQ(version.at("server"), "agentr");
  EXPECT_EQ(version.at("data_hash"), game_.DataHash());
  EXPECT_EQ(version.at("extensions"), json({"expand"}));
  EXPECT_EQ(version.at("tasks"), 6);
}

TEST_F(EnvServerTest, ExpandEqualsSteps) {
  const std::vector<std::string> actions = {"get 2 oak log", "inventory",
                                            "craft 4 oak planks using 1 oak log", "nonsense",
                                            "craft 4 stick using 2 oak planks"};
  RandomStream random(3);
  const int64_t session = client_.Create(0);
  const int64_t replay = client_.Create(0);
  std::vector<std::string> history;
  for (int turn = 0; turn < 6; ++turn) {
    const json children =
        client_.Post("/expand", {{"id", session}, {"actions", actions}}).at("children");
    ASSERT_EQ(children.size(), actions.size());
    for (size_t i = 0; i < actions.size(); ++i) {
      client_.Post("/reset", {{"id", replay}, {"data_idx", 0}});
      for (const std::string& action : history) client_.Step(replay, action);
      json child = children[i];
      const int64_t id = child.at("id");
      child.erase("id");
      EXPECT_EQ(child, client_.Step(replay, actions[i]));
      // The fork stands behind its action.
      EXPECT_EQ(client_.Step(id, "inventory"), client_.Step(replay, "inventory"));
    }
    history.push_back(random.Pick(actions));
    client_.Post("/reset", {{"id", replay}, {"data_idx", 0}});
    for (size_t i = 0; i + 1 < history.size(); ++i) client_.Step(replay, history[i]);
    // The session itself stayed where it was.
    EXPECT_EQ(client_.Step(session, history.back()), client_.Step(replay, history.back()));
  }
}

TEST_F(EnvServerTest, ClosingEndsForks) {
  const int64_t id = client_.Create(0);
  const json forks =
      client_.Post("/expand", {{"id", id}, {"actions", {"inventory", "get 1 coal"}}});
  const int64_t fork = forks.at("children")[1].at("id");
  const json deeper = client_.Post("/expand", {{"id", fork}, {"actions", {"inventory"}}});
  EXPECT_EQ(deeper.at("children")[0].at("observation"), "Inventory: [coal] (1) ");
  EXPECT_EQ(client_.Post("/close", {{"id", id}}), true);
  EXPECT_TRUE(client_.Step(fork, "inventory").contains("error"));
  EXPECT_TRUE(client_.Step(deeper.at("children")[0].at("id"), "inventory").contains("error"));
}

TEST_F(EnvServerTest, ExpandOfNothing) {
  const int64_t id = client_.Create(0);
  EXPECT_EQ(client_.Post("/expand", {{"id", id}, {"actions", json::array()}}),
            json({{"children", json::array()}}));
}

TEST_F(EnvServerTest, MetricsTellSessions) {
  httplib::Client http("127.0.0.1", server_->port());
  const int64_t id = client_.Create(0);
  client_.Create(0);
  client_.Post("/close", {{"id", id}});
  EXPECT_THAT(http.Get("/metrics")->body, AllOf(HasSubstr("agentr_sessions_live 1\n"),
                                                HasSubstr("agentr_sessions_created_total 2\n"),
                                                HasSubstr("agentr_sessions_closed_total 1\n"),
                                                HasSubstr("agentr_sessions_expired_total 0\n")));
}

// Each client plays its own session, and all play one more: nobody sees another's items, and no
// step on the common one is lost.
TEST_F(EnvServerTest, ClientsAtOnce) {
  const int64_t common = client_.Create(0);
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      EnvClient client(server_->port());
      const int64_t own = client.Create(t);
      for (int i = 1; i <= 50; ++i) {
        client.Step(own, fmt::format("get {} coal", t));
        client.Step(common, "get 1 oak log");
        EXPECT_EQ(client.Step(own, "inventory").at("observation"),
                  fmt::format("Inventory: [coal] ({}) ", t * i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client_.Step(common, "inventory").at("observation"), "Inventory: [oak log] (400) ");
}

TEST(EnvServerOptionsTest, WithoutExtensions) {
  const auto server = Serve({}, /*extensions=*/false);
  EnvClient client(server->port());
  EXPECT_EQ(client.GetStatus("/version"), 404);
  const int64_t id = client.Create(0);
  EXPECT_EQ(client.PostStatus("/expand", {{"id", id}, {"actions", {"inventory"}}}), 404);
  EXPECT_EQ(client.Step(id, "get 1 coal").at("observation"), "Got 1 coal");
}

TEST(EnvServerOptionsTest, LimitOfSessions) {
  const auto server = Serve({.max_sessions = 2});
  EnvClient client(server->port());
  const int64_t id = client.Create(0);
  EXPECT_EQ(client.PostStatus("/expand", {{"id", id}, {"actions", {"inventory", "inventory"}}}),
            503);
  client.Create(0);
  EXPECT_THAT(client.Post("/create", json::object()).at("error").get<std::string>(),
              HasSubstr("--max_sessions"));
  EXPECT_EQ(client.status(), 503);
  client.Post("/close", {{"id", id}});
  EXPECT_EQ(client.Post("/create", json::object()).at("id"), 2);
}

TEST(EnvServerOptionsTest, SessionsExpire) {
  std::atomic<double> now = 0;
  const auto server = Serve({.ttl_s = 60}, true, [&] { return now.load(); });
  EnvClient client(server->port());
  const int64_t id = client.Create(0);
  now = 59;
  EXPECT_EQ(client.Step(id, "get 1 coal").at("observation"), "Got 1 coal");
  now = 119;
  EXPECT_EQ(client.Step(id, "inventory").at("error"), "The id 0 is not valid.");
}

TEST(StartEnvServerTest, ServesTheBuiltInBook) {
  const auto server = StartEnvServer({.task = "textcraft", .port = 0});
  EXPECT_EQ(server->base_url(), fmt::format("http://127.0.0.1:{}", server->port()));
  EXPECT_EQ(server->Summary(), "textcraft: 658 tasks, 658 recipes");
  EnvClient client(server->port());
  EXPECT_EQ(client.Get("/version").at("tasks"), 658);
}

TEST(StartEnvServerTest, TwoServersShowTheSameTexts) {
  const auto one = StartEnvServer({.task = "textcraft", .port = 0});
  const auto other = StartEnvServer({.task = "textcraft", .port = 0});
  EnvClient one_client(one->port());
  EnvClient other_client(other->port());
  EXPECT_EQ(one_client.Get("/version"), other_client.Get("/version"));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(one_client.Post("/create", json::object()),
              other_client.Post("/create", json::object()));
  }
}

EnvServerOptions WithOracle(const SilentPeer& oracle) {
  EnvServerOptions options{.task = "twenty_questions", .port = 0};
  options.oracle.base = {oracle.url() + "/v1"};
  options.oracle.model = "m";
  options.oracle.timeout_s = 0.3;
  return options;
}

// The limit holds for silence of every kind; without it the test would last for hours.
TEST(OracleTest, AMuteOneEndsTheStartAtTheLimit) {
  for (const Silence silence : {Silence::kNeverAccepts, Silence::kNeverAnswers, Silence::kDrips}) {
    const SilentPeer oracle(silence);
    EXPECT_THAT(FatalErrorOf(ExitCode::kUnavailable, [&] { StartEnvServer(WithOracle(oracle)); }),
                AllOf(HasSubstr(oracle.url()), HasSubstr("--oracle_timeout 0.3")));
  }
}

TEST(OracleTest, OneThatFallsSilentMakesStepsErrorsAtTheLimit) {
  LocalServer model;  // has no /v1/models, as other servers
  model.Start();
  SilentPeer oracle(Silence::kNeverAnswers, {.target = std::to_string(model.port())});
  const auto server = StartEnvServer(WithOracle(oracle));
  oracle.FallSilent();
  EnvClient client(server->port());
  const int64_t id = client.Create(3);
  EXPECT_THAT(client.Step(id, "Is it alive?").at("error"),
              HasSubstr("the oracle has not answered"));
  EXPECT_EQ(client.Get("/observation?id=" + std::to_string(id)).at("observation"), "Questions:")
      << "as before";
}

TEST(StartEnvServerTest, ServesThePublicBook) {
  if (!exists(testing::PublicFolder())) GTEST_SKIP() << "the public recipes are not here";
  const auto server =
      StartEnvServer({.task = "textcraft", .recipes = testing::PublicFolder().string(), .port = 0});
  EXPECT_EQ(server->Summary(), "textcraft: 544 tasks, 613 recipes");
  EnvClient client(server->port());
  const int64_t id = client.Create(0);
  EXPECT_EQ(client.Step(id, "get 1 acacia logs").at("observation"), "Got 1 acacia logs");
  EXPECT_EQ(
      client.Step(id, "craft 4 acacia planks using 1 acacia logs"),
      json({{"observation", "Crafted 4 minecraft:acacia_planks"}, {"reward", 1}, {"done", true}}));
}

TEST(StartEnvServerTest, OtherTasksAreToldWhatThereIs) {
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { StartEnvServer({.task = "chess", .port = 0}); }),
              AllOf(HasSubstr("'chess'"), HasSubstr("textcraft, webshop")));
}

}  // namespace
}  // namespace agentr
