// AgentGym's BabyAI server: the plain protocol, to the letter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "clients/env/http_environment.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/small_babyai_server.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::unique_ptr<Protocol> kBabyAi = MakeProtocol("babyai");

TEST(BabyAiProtocol, WritesBodies) {
  EXPECT_EQ(kBabyAi->family(), "babyai");
  EXPECT_EQ(kBabyAi->ResetBody(7, 43), R"({"data_idx":43,"id":7})");
  EXPECT_EQ(kBabyAi->StepBody(7, "go to red ball 1"), R"({"action":"go to red ball 1","id":7})");
  EXPECT_EQ(kBabyAi->CloseBody(7), R"({"id":7})");
}

TEST(BabyAiProtocol, ReadsReplies) {
  EXPECT_EQ(kBabyAi->ParseCreate(R"({"id": 3})"), 3);
  EXPECT_EQ(kBabyAi->ParseReset(R"({"observation": "Your goal: x", "reward": 0, "score": 0,
                                    "deleted": false, "done": false})"),
            "Your goal: x");
}

TEST(BabyAiProtocol, TheRewardIsNotTheScoreWhichAddsUp) {
  const auto step = kBabyAi->ParseStep(
      R"({"observation": "x", "reward": 0.4375, "score": 1.3125, "done": false})");
  EXPECT_EQ(step, (StepResult{"x", 0.4375, false}));
  const auto none = kBabyAi->ParseStep(R"({"observation": "x", "score": 1, "done": true})");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("'reward' is missing"));
}

TEST(BabyAiProtocol, AnObservationIsAnObjectThatRepeatsTheGoal) {
  const auto read = [](const char* text, std::string_view first) {
    return kBabyAi->ParseObservation(
        fmt::format(R"({{"observation": "{}", "reward": 0, "score": 0, "done": false,
                        "deleted": false}})",
                    text),
        first);
  };
  EXPECT_EQ(read(R"(Your goal: x\nAn open door\nand a key)", "Your goal: x\nA ball"),
            "An open door\nand a key")
      << "as the step that led here showed it";
  EXPECT_EQ(read("Questions: none", "Questions: none"), "Questions: none") << "another game";
  const auto first = read(R"(Your goal: x\nA ball)", "Your goal: x\nA ball");
  ASSERT_FALSE(first) << "the beginning, or a step that led back to it";
  EXPECT_EQ(first.error().kind, ErrorKind::kEnvironment);
  const auto text = kBabyAi->ParseObservation(R"("A ball")", "");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("/observation reply"));
}

TEST(BabyAiProtocol, TellsLostSessionsFromFinishedOnes) {
  const auto lost = [](const std::string& words) {
    return kBabyAi->IsLostSession(kBabyAi->ParseStep("{\"error\": \"" + words + "\"}").error());
  };
  EXPECT_TRUE(lost("The id 7 is not valid."));
  EXPECT_TRUE(lost("The task with environment 7 has been deleted."));
  EXPECT_FALSE(lost("The task with environment 7 has finished."));
}

TEST(BabyAiProtocol, AnswersOfAServerComeThrough) {
  SmallBabyAiServer server;
  HttpEnvironment world(MakeProtocol("babyai"), {server.url()}, HttpOptions{});
  EXPECT_FALSE(world.CanExpand());
  {
    const auto session = world.Open().value();
    EXPECT_THAT(session->Reset(0).value(), StartsWith("Your goal: go to the red ball\n"));
    SmallBabyAi same(0);
    EXPECT_FALSE(session->Observation()) << "it may not be the beginning any more";
    for (const char* action : {"turn left", "fly", "go to red ball 1"}) {
      const StepResult step = same.Step(action);
      EXPECT_EQ(session->Step(action).value(), step) << action;
      EXPECT_EQ(session->Observation().value(), step.observation) << action;
    }
    server.Forget();
    const auto after = session->Step("turn left");
    ASSERT_FALSE(after);
    EXPECT_THAT(after.error().message, HasSubstr("lost the session"));
    EXPECT_TRUE(session->Reset(0)) << "in a new session";
  }
  EXPECT_EQ(server.calls("/create"), 2);
  EXPECT_EQ(server.calls("/close"), 1);
}

}  // namespace
}  // namespace agentr
