#include "clients/env/protocol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tasks/task_kinds.h"
#include "tests/clients/expect_error.h"

namespace agentr {
namespace {

const std::unique_ptr<Protocol> kTextCraft = MakeProtocol("textcraft");

TEST(Protocol, WritesTextCraftBodies) {
  EXPECT_EQ(kTextCraft->CreateBody(), "{}");
  EXPECT_EQ(kTextCraft->ResetBody(7, 12), R"({"data_idx":12,"id":7})");
  EXPECT_EQ(kTextCraft->StepBody(7, "get 1 \"oak\" log"),
            R"({"action":"get 1 \"oak\" log","id":7})");
  EXPECT_EQ(kTextCraft->ExpandBody(7, {"a", "b"}), R"({"actions":["a","b"],"id":7})");
  EXPECT_EQ(kTextCraft->CloseBody(7), R"({"id":7})");
}

TEST(Protocol, CutUtf8InAnActionIsReplaced) {
  EXPECT_EQ(kTextCraft->StepBody(1, "caf\xc3"), "{\"action\":\"caf\xEF\xBF\xBD\",\"id\":1}");
}

TEST(Protocol, ReadsTextCraftReplies) {
  EXPECT_EQ(kTextCraft->ParseCreate(R"({"id": 3, "observation": "x", "done": false, "reward": 0})"),
            3);
  EXPECT_EQ(kTextCraft->ParseReset(R"({"id": 3, "observation": "x", "done": false, "reward": 0})"),
            "x");
  EXPECT_EQ(kTextCraft->ParseStep(R"({"observation": "x", "reward": 1, "done": true})").value(),
            (StepResult{"x", 1, true}));
  EXPECT_EQ(kTextCraft->ParseStep(R"({"observation": "x", "reward": -0.5, "done": false})").value(),
            (StepResult{"x", -0.5, false}));
  const auto forks = kTextCraft->ParseExpand(
      R"({"children": [{"id": 8, "observation": "y", "reward": 0, "done": false}]})", 1);
  ASSERT_EQ(forks.value().size(), 1u);
  EXPECT_EQ(forks->front().id, 8);
  EXPECT_EQ(forks->front().step, (StepResult{"y", 0, false}));
}

TEST(Protocol, ReadsAnObservationAlone) {
  EXPECT_EQ(kTextCraft->ParseObservation(R"("Got 1 \"log\"")", ""), "Got 1 \"log\"");
  const auto read = [](const char* reply) { return kTextCraft->ParseObservation(reply, ""); };
  ExpectError(read("Got 1 log"), ErrorKind::kProtocol, "not JSON");
  ExpectError(read("7"), ErrorKind::kProtocol, "/observation reply");
  ExpectError(read(R"({"observation": "x"})"), ErrorKind::kProtocol, "is no string");
  ExpectError(read(R"({"error": "The id 7 is not valid."})"), ErrorKind::kEnvironment, "The id 7");
}

TEST(Protocol, NamesTheFieldThatIsWrong) {
  const auto step = [](const char* reply) { return kTextCraft->ParseStep(reply); };
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(step(R"({"reward": 1, "done": true})"), bad, "'observation' is missing");
  ExpectError(step(R"({"observation": 1, "reward": 1, "done": true})"), bad, "'observation' has");
  ExpectError(step(R"({"observation": "x", "reward": "1", "done": true})"), bad, "'reward' has");
  ExpectError(step(R"({"observation": "x", "reward": 1, "done": 2})"), bad, "'done' has");
  ExpectError(step(R"({"observation": "x", "reward": null, "done": true})"), bad, "'reward' has");
  ExpectError(step(R"({"observation": "x", "rew)"), bad, "not JSON");
  ExpectError(step("[1]"), bad, "not an object");
  ExpectError(kTextCraft->ParseCreate("{}"), bad, "'id' is missing");
  ExpectError(kTextCraft->ParseCreate(R"({"id": 1.5})"), bad, "'id' has the wrong type");
  ExpectError(kTextCraft->ParseReset("{}"), bad, "'observation' is missing");
}

TEST(Protocol, ChecksTheChildrenOfAnExpansion) {
  const auto expand = [](const char* reply) { return kTextCraft->ParseExpand(reply, 1); };
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(expand(R"({"children": {}})"), bad, "'children' has");
  ExpectError(expand(R"({"children": []})"), bad, "0 children for 1 actions");
  ExpectError(expand(R"({"children": [3]})"), bad, "child 0");
  ExpectError(expand(R"({"children": [{"observation": "y", "reward": 0, "done": false}]})"), bad,
              "child 0: field 'id'");
  ExpectError(expand(R"({"children": [{"id": 1, "reward": 0, "done": false}]})"), bad,
              "child 0: field 'observation'");
}

TEST(Protocol, AnErrorOfTheEnvironmentIsNoObservation) {
  const auto step = kTextCraft->ParseStep(R"({"error": "The id 7 is not valid."})");
  ExpectError(step, ErrorKind::kEnvironment, "The id 7 is not valid.");
  EXPECT_TRUE(kTextCraft->IsLostSession(step.error()));
  const auto other = kTextCraft->ParseStep(R"({"error": {"code": 5}})");
  ExpectError(other, ErrorKind::kEnvironment, R"({"code":5})");
  EXPECT_FALSE(kTextCraft->IsLostSession(other.error()));
}

TEST(Protocol, ReadsWhatOtherServersWriteForNothing) {
  EXPECT_EQ(kTextCraft->ParseStep(R"({"observation": "x", "reward": 1, "done": 1, "error": null})"),
            (StepResult{"x", 1, true}));
  EXPECT_EQ(kTextCraft->ParseStep(R"({"observation": "x", "reward": null, "done": 0})"),
            (StepResult{"x", 0, false}));
  for (const char* nothing : {"\"\"", "false", "0", "{}", "[]"}) {
    EXPECT_TRUE(
        kTextCraft->ParseStep(std::string(R"({"observation": "x", "reward": 1, "done": 0,)") +
                              R"( "error": )" + nothing + "}"))
        << nothing;
  }
}

TEST(Protocol, SaysWhatItsRepliesLookLike) {
  EXPECT_EQ(kTextCraft->ReplyShape("/step"),
            R"({"observation": text, "reward": number, "done": true or false})");
  EXPECT_EQ(MakeProtocol("webshop")->ReplyShape("/create"), "an integer");
  EXPECT_EQ(MakeProtocol("sciworld")->ReplyShape("/create"), R"({"id": integer})");
  EXPECT_EQ(kTextCraft->ReplyShape("/gold"), "");
}

TEST(Protocol, KnowsTheUsualWordsForALostSession) {
  for (const char* words :
       {"Session 7 not found", "unknown session id", "env 3 does not exist",
        "Environment has been deleted.", "no such session: 7", "the session has expired",
        "No environment with id 7", "No session 7", "the session timed out",
        "Session 7 doesn't exist", "env_id 7 do not exist", "unknown env_idx: 7",
        "environment 7 not found", R"({"detail": "Invalid sessionId"})"}) {
    EXPECT_TRUE(kTextCraft->IsLostSession({ErrorKind::kEnvironment, words, 0})) << words;
  }
  for (const char* words : {"item not found", "the door is closed", "invalid action",
                            "Invalid action: identify the lamp", "no such thing: envelope",
                            "This environment has no such room.", "unknown word: idle",
                            "That move is not valid.", "The data_idx 9000 is not valid"}) {
    EXPECT_FALSE(kTextCraft->IsLostSession({ErrorKind::kEnvironment, words, 0})) << words;
    const auto step = kTextCraft->ParseStep(fmt::format(R"({{"error": "{}"}})", words));
    EXPECT_FALSE(kTextCraft->IsLostSession(step.error())) << step.error().message;
  }
}

TEST(ServerVersion, OfAnyDepthIsAnError) {
  const std::string deep =
      R"({"server": )" + std::string(200000, '[') + std::string(200000, ']') + "}";
  ExpectError(ParseVersion(deep), ErrorKind::kProtocol, "nested too deep");
  const std::string brackets = R"({"server": "\"[[)" + std::string(500, '{') + R"("})";
  ExpectError(ParseVersion(brackets), ErrorKind::kProtocol, "'version'");
}

TEST(ServerVersion, IsReadStrictly) {
  const auto version = ParseVersion(
      R"({"server": "env_server", "version": "1", "data_hash": "ab", "extensions": ["expand"]})");
  EXPECT_EQ(version.value().extensions, std::vector<std::string>{"expand"});
  EXPECT_EQ(version->tasks, 0);
  EXPECT_EQ(version->task, "");
  const ErrorKind bad = ErrorKind::kProtocol;
  ExpectError(ParseVersion(R"({"server": "s", "version": "1"})"), bad, "'data_hash'");
  ExpectError(ParseVersion(R"({"server": "s", "version": "1", "data_hash": "ab"})"), bad,
              "'extensions'");
  ExpectError(
      ParseVersion(R"({"server": "s", "version": "1", "data_hash": "ab", "extensions": [1]})"), bad,
      "extension");
  ExpectError(ParseVersion(R"({"server": "s", "version": "1", "data_hash": "ab",
                               "extensions": [], "tasks": "many"})"),
              bad, "'tasks'");
  ExpectError(ParseVersion(R"({"server": "s", "version": "1", "data_hash": "ab",
                               "extensions": [], "task": 1})"),
              bad, "'task'");
}

}  // namespace
}  // namespace agentr
