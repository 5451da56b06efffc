#include "clients/env/sciworld_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "clients/env/http_environment.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/small_sciworld_server.h"
#include "tests/clients/expect_error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::unique_ptr<Protocol> kSciWorld = MakeProtocol("sciworld");

TEST(SciWorldProtocol, WritesBodiesAndPaths) {
  EXPECT_EQ(kSciWorld->family(), "sciworld");
  EXPECT_EQ(kSciWorld->CreateBody(), "");
  EXPECT_EQ(kSciWorld->ResetBody(7, 3491), R"({"data_idx":3491,"id":7})");
  EXPECT_EQ(kSciWorld->StepBody(7, "look around"), R"({"action":"look around","id":7})");
  EXPECT_EQ(kSciWorld->CloseBody(7), R"({"id":7})");
  EXPECT_EQ(kSciWorld->AskPath("gold", 7), "/gold?id=7");
}

TEST(SciWorldProtocol, TheFirstObservationBeginsWithTheTask) {
  EXPECT_EQ(kSciWorld->ParseCreate(R"({"id": 3})"), 3);
  const char* reply = R"({"task_name": "boil", "var_num": 0, "task_description": "Task:\nBoil.",
      "observation": "A room.", "reward": 0, "score": 0, "deleted": false, "done": false})";
  EXPECT_EQ(kSciWorld->ParseReset(reply), "Task:\nBoil.\nA room.");
}

TEST(SciWorldProtocol, ReadsWhatOtherServersWriteForNothing) {
  EXPECT_EQ(kSciWorld->ParseStep(R"({"observation": "x", "score": null, "done": 0})"),
            (StepResult{"x", 0, false}));
  EXPECT_EQ(kSciWorld->ParseStep(R"({"observation": "x", "score": 100, "done": 1})"),
            (StepResult{"x", 1, true}));
}

TEST(SciWorldProtocol, TheRewardIsTheScoreOfTheEpisode) {
  const auto step = [](const std::string& numbers) {
    return kSciWorld->ParseStep("{\"observation\": \"x\", " + numbers + "}").value();
  };
  EXPECT_EQ(step(R"("reward": 25, "score": 75.0, "done": false)"), (StepResult{"x", 0.75, false}));
  EXPECT_EQ(step(R"("reward": 0, "score": 100, "done": true)"), (StepResult{"x", 1, true}));
  EXPECT_EQ(step(R"("reward": -175, "score": -100, "done": true)"), (StepResult{"x", -1, true}))
      << "a disaster stays negative";
}

TEST(SciWorldProtocol, ReadsWhatExtensionsList) {
  EXPECT_THAT(kSciWorld->ParseAnswer("gold", R"({"gold": ["a", "b"]})").value(),
              ElementsAre("a", "b"));
  EXPECT_THAT(kSciWorld->ParseAnswer("gold", R"({"gold": []})").value(), IsEmpty());
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(kSciWorld->ParseAnswer("gold", R"({"valid_actions": []})"), bad, "'gold' is missing");
  ExpectError(kSciWorld->ParseAnswer("gold", R"({"gold": ["a", 1]})"), bad, "no string");
  ExpectError(kSciWorld->ParseAnswer("gold", R"({"error": "The id 7 is not valid."})"),
              ErrorKind::kEnvironment, "/gold reply");
}

TEST(SciWorldProtocol, SaysWhatIsWrong) {
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(kSciWorld->ParseCreate(R"({"error": "no JVM"})"), ErrorKind::kEnvironment, "no JVM");
  ExpectError(kSciWorld->ParseReset(R"({"observation": "x"})"), bad,
              "/reset reply: field 'task_description' is missing");
  ExpectError(kSciWorld->ParseReset(R"({"task_description": "x"})"), bad, "'observation'");
  ExpectError(kSciWorld->ParseStep(R"({"observation": "x", "reward": 1, "done": true})"), bad,
              "'score' is missing");
}

TEST(SciWorldProtocol, TellsLostSessionsFromFinishedOnes) {
  const auto lost = [](const std::string& words) {
    const auto step = kSciWorld->ParseStep("{\"error\": \"" + words + "\"}");
    EXPECT_EQ(step.error().kind, ErrorKind::kEnvironment);
    return kSciWorld->IsLostSession(step.error());
  };
  EXPECT_TRUE(lost("The id 7 is not valid."));
  EXPECT_TRUE(lost("The task with environment 7 has been deleted."));
  EXPECT_FALSE(lost("The task with environment 0 has finished."));
  EXPECT_FALSE(kSciWorld->IsLostSession({ErrorKind::kServer, "has been deleted", 0}));
}

TEST(SciWorldProtocol, AnswersOfAServerComeThrough) {
  SmallSciWorldServer server;
  HttpEnvironment house(MakeProtocol("sciworld"), {server.url()}, HttpOptions{});
  EXPECT_TRUE(house.Offers("gold"));
  EXPECT_FALSE(house.Offers("expand"));
  const auto session = house.Open().value();
  EXPECT_THAT(session->Reset(2).value(), HasSubstr("\nThis room is called the hallway."));
  EXPECT_EQ(session->Query("gold").value(), SmallSciWorld(2).Gold());
  session->Step("open door to greenhouse").value();
  EXPECT_EQ(session->Step("go to greenhouse").value().reward, 0.25);
  EXPECT_EQ(session->Step("focus on cactus").value(),
            (StepResult{"You focus on the cactus.", -1, true}));
  ExpectError(session->Step("wait"), ErrorKind::kEnvironment, "has finished");
  EXPECT_TRUE(session->Reset(2)) << "which makes it usable again";
  server.Forget();
  ExpectError(session->Step("wait"), ErrorKind::kSessionLost, "lost the session");
  ExpectError(session->Query("gold"), ErrorKind::kSessionLost, "lost the session");
}

TEST(SciWorldProtocol, APublicServerGetsFewSessions) {
  SmallSciWorldServer server(/*extensions=*/false), other(/*extensions=*/false);
  const auto sessions = [](const std::string& task, const std::vector<Secret>& bases) {
    return HttpEnvironment(MakeProtocol(task), bases, HttpOptions{}).DefaultSessions();
  };
  EXPECT_EQ(sessions("sciworld", {server.url()}), 16);
  EXPECT_EQ(sessions("sciworld", {server.url(), other.url()}), 32);
  EXPECT_EQ(sessions("babyai", {server.url()}), 256);
}

TEST(SciWorldProtocol, APublicServerHasNoExtensions) {
  SmallSciWorldServer server(/*extensions=*/false);
  HttpEnvironment house(MakeProtocol("sciworld"), {server.url()}, HttpOptions{});
  EXPECT_FALSE(house.Offers("gold"));
  const auto session = house.Open().value();
  EXPECT_TRUE(session->Reset(0));
  ExpectError(session->Query("gold"), ErrorKind::kRejected, "404");
}

}  // namespace
}  // namespace agentr
