// The service of games that are values, with BabyAI as its game.
#include "servers/text_game_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "games/babyai/babyai_text.h"
#include "tasks/babyai/babyai_gold.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/servers/env_client.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TextGameServiceTest : public ::testing::Test {
 protected:
  const std::unique_ptr<EnvServer> server_ = StartServer("babyai");
  EnvClient client_{server_->port()};
  const BabyAiText game_{{}};
};

TEST_F(TextGameServiceTest, PlaysAsTheGameDoes) {
  const int64_t id = client_.Create(3);
  BabyAiTextState state = *game_.Start(3);
  const auto shown = [&] {
    return json{{"observation", BabyAiText::WithGoal(state)},
                {"reward", state.reward},
                {"score", state.score},
                {"done", state.done()},
                {"deleted", false}};
  };
  EXPECT_THAT(state.observation, StartsWith("Your goal: "));
  EXPECT_EQ(client_.Get("/observation?id=" + std::to_string(id)), shown());
  for (const std::string& action : Gold(game_, 3)) {
    game_.Step(state, action);
    const json expected = {{"observation", state.observation},
                           {"reward", state.reward},
                           {"score", state.score},
                           {"done", state.game.done()}};
    EXPECT_EQ(client_.Step(id, action), expected);
    EXPECT_EQ(client_.Get("/observation?id=" + std::to_string(id)), shown());
  }
  EXPECT_TRUE(state.game.solved());
  EXPECT_GT(state.reward, 0.5);
  EXPECT_THAT(client_.Step(id, "drop").at("error").get<std::string>(), HasSubstr("has finished"));
  EXPECT_EQ(client_.Get("/detail?id=" + std::to_string(id)).at("done"), true);
  EXPECT_EQ(client_.Post("/close", {{"id", id}}), true);
  EXPECT_EQ(client_.Step(id, "drop").at("error"),
            "The id " + std::to_string(id) + " is not valid.");
}

TEST_F(TextGameServiceTest, ForksLeaveTheSessionWhereItWas) {
  const int64_t id = client_.Create(0);
  const json reply =
      client_.Post("/expand", {{"id", id}, {"actions", {"turn left", "go forward", "fly"}}});
  const json& children = reply.at("children");
  ASSERT_EQ(children.size(), 3U);
  for (const char* action : {"turn left", "go forward"}) {
    BabyAiTextState state = *game_.Start(0);
    game_.Step(state, action);
    const json& child = children.at(action == std::string("turn left") ? 0 : 1);
    EXPECT_EQ(child.at("observation"), state.observation) << action;
    game_.Step(state, "turn right");
    EXPECT_EQ(client_.Step(child.at("id"), "turn right").at("observation"), state.observation);
  }
  EXPECT_THAT(children.at(2).at("observation").get<std::string>(), HasSubstr("not recognized"));
  EXPECT_EQ(client_.Get("/observation?id=" + std::to_string(id)).at("observation"),
            game_.Start(0)->observation);
}

TEST_F(TextGameServiceTest, GoldSolvesTheSessionsTask) {
  const int64_t id = client_.Create(14);
  const json gold = client_.Get("/gold?id=" + std::to_string(id)).at("gold");
  EXPECT_EQ(gold, json(Gold(game_, 14)));
  json last;
  for (const json& action : gold) last = client_.Step(id, action);
  EXPECT_EQ(last.at("done"), true);
  EXPECT_GT(last.at("reward"), 0.0);
}

TEST_F(TextGameServiceTest, SaysWhatIsWrong) {
  const int64_t id = client_.Post("/create", json::object()).at("id");
  EXPECT_THAT(client_.Step(id, "drop").at("error").get<std::string>(), HasSubstr("has not begun"));
  EXPECT_EQ(client_.Post("/reset", {{"id", id}, {"data_idx", 10200}}).at("error"),
            "The data_idx 10200 is not valid: there are the tasks 0 to 10199.");
  const json version = client_.Get("/version");
  EXPECT_EQ(version.at("task"), "babyai");
  EXPECT_EQ(version.at("tasks"), 10200);
  EXPECT_EQ(version.at("data_hash"), game_.DataHash());
  EXPECT_NE(BabyAiText({"GoToLocal", "", false}).DataHash(), game_.DataHash());
}

// Prefix, names and bare observations of AgentGym's server lmrlgym.
TEST(LmrlGymService, SpeaksAsAgentGymsServerDoes) {
  const std::unique_ptr<EnvServer> server = StartServer("wordle");
  EnvClient client(server->port());
  const json id = client.Post("/wordle/create", nullptr).at("id");
  const std::string of_id = "?id=" + id.dump();
  EXPECT_EQ(client.Get("/wordle/filtered_vocab" + of_id).size(), 40U) << "before the first reset";
  EXPECT_EQ(client.Post("/wordle/reset", {{"id", id}, {"seed", 1}}).at("observation"),
            "Let's start Wordle!");
  const json step = client.Post("/wordle/step", {{"id", id}, {"action", "c o u l d"}});
  EXPECT_EQ(step.at("observation"), "g b b b b\n");
  EXPECT_EQ(step.at("reward"), 0);
  EXPECT_EQ(client.Get("/wordle/observation" + of_id), "g b b b b\n");
  EXPECT_EQ(client.Get("/wordle/filtered_vocab" + of_id), json::array({"crimp", "cynic"}));
  EXPECT_EQ(client.Post("/wordle/step", {{"id", id}, {"action", "c r i m p"}}).at("reward"), 1);
  EXPECT_EQ(client.Post("/wordle/reset", {{"id", id}, {"seed", 980}}).at("error"),
            "The seed 980 is not valid: there are the tasks 0 to 979.");

  const std::unique_ptr<EnvServer> maze = StartServer("maze");
  EnvClient walker(maze->port());
  const json session = walker.Post("/maze/create", nullptr).at("id");
  EXPECT_THAT(walker.Post("/maze/reset", {{"id", session}, {"game", 2}})
                  .at("observation")
                  .get<std::string>(),
              HasSubstr("position is at position 1, 3."));
  EXPECT_EQ(walker.Get("/maze/available_actions"),
            json::array({"move left", "move right", "move up", "move down"}));
}

}  // namespace
}  // namespace agentr
