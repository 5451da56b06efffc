// OpenEnv's protocol over WebSocket, with a server of ours, and what its texts mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "clients/env/http_environment.h"
#include "clients/env/openenv_client.h"
#include "tasks/task_file.h"
#include "tests/clients/env/small_openenv_server.h"
#include "tests/clients/expect_error.h"
#include "tests/clients/http/local_server.h"

namespace agentr {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGame = R"([task]
name = "words"
transport = "openenv"
instruction = "Say words."

[reset]
observation = "/observation/message"

[step]
observation = "/observation/message"
)";

// Without real waits.
HttpOptions Quick(int attempts = 3) {
  HttpOptions options;
  options.timeout_s = 5;
  options.retry.attempts = attempts;
  options.retry.sleep = [](double) { return true; };
  return options;
}

TaskKind Game(const std::string& more = "") {
  return ReadTaskFile(std::string(kGame) + more, "words.toml");
}

std::unique_ptr<HttpEnvironment> Connect(const SmallOpenEnvServer& server,
                                         const HttpOptions& options = Quick(),
                                         const std::string& more = "") {
  return std::make_unique<HttpEnvironment>(Game(more).protocol(), std::vector<Secret>{server.url()},
                                           options);
}

TEST(OpenEnv, PlaysAnEpisodeAndClosesTheConnection) {
  const SmallOpenEnvServer server;
  const auto env = Connect(server);
  EXPECT_EQ(env->DefaultSessions(), 1) << "as many as a server makes unless the file says more";
  EXPECT_FALSE(env->CanExpand());
  {
    const auto session = env->Open().value();
    EXPECT_EQ(session->Reset(7).value(), "task 7");
    EXPECT_EQ(session->Step("look").value(), (StepResult{"task 7, look", 0, false}));
    EXPECT_EQ(session->Step("win").value(), (StepResult{"task 7, look, win", 1, true}));
    EXPECT_EQ(session->Reset(8).value(), "task 8");
    EXPECT_EQ(server.active(), 1);
  }
  EXPECT_EQ(server.closed_well(), 1);
  EXPECT_EQ(server.active(), 0);
}

TEST(OpenEnv, PingsAreAnsweredWhileAModelThinks) {
  SmallOpenEnvServer server(2);
  const auto env = Connect(server);
  const auto one = env->Open().value(), other = env->Open().value();
  EXPECT_TRUE(server.AllAnswerPings());
  EXPECT_EQ(one->Reset(1).value(), "task 1");
  EXPECT_TRUE(server.AllAnswerPings());
}

TEST(OpenEnv, ABrokenConnectionIsALostSessionThatAResetReplaces) {
  SmallOpenEnvServer server;
  server.BreakEveryStep(2);
  const auto env = Connect(server);
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  ASSERT_TRUE(session->Step("a"));
  EXPECT_EQ(session->Step("b").error().kind, ErrorKind::kSessionLost);
  EXPECT_EQ(session->Step("b").error().kind, ErrorKind::kSessionLost);
  EXPECT_EQ(session->Reset(7).value(), "task 7");
  EXPECT_EQ(session->Step("a").value().observation, "task 7, a");
  EXPECT_EQ(server.opened(), 2);
}

TEST(OpenEnv, AConnectionThatBrokeUnnoticedIsReplacedByTheReset) {
  SmallOpenEnvServer server;
  server.BreakEveryStep(1);
  const auto env = Connect(server);
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  EXPECT_EQ(session->Step("a").error().kind, ErrorKind::kSessionLost);
  EXPECT_EQ(session->Reset(8).value(), "task 8");
}

TEST(OpenEnv, AStepWithoutAnswerEndsTheConnection) {
  SmallOpenEnvServer server;
  server.KeepSilent();
  HttpOptions options = Quick();
  options.timeout_s = 0.2;
  const auto env = Connect(server, options);
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  // Its answer could come later.
  ExpectError(session->Step("a"), ErrorKind::kSessionLost, "no reply in 0.2 s");
  EXPECT_EQ(session->Reset(7).value(), "task 7");
  EXPECT_EQ(server.opened(), 2);
}

TEST(OpenEnv, AFullServerIsWaitedFor) {
  const SmallOpenEnvServer server(1);
  HttpOptions options = Quick();
  std::unique_ptr<HttpEnvironment> env;
  std::unique_ptr<Session> first;
  int waits = 0;
  options.retry.sleep = [&](double) {
    if (++waits == 3) first.reset();
    return true;
  };
  env = Connect(server, options);
  first = env->Open().value();
  const auto second = env->Open();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(waits, 3);
  EXPECT_EQ((*second)->Reset(1).value(), "task 1");
}

TEST(OpenEnv, TheWaitForAFullServerEndsAndNamesTheCure) {
  const SmallOpenEnvServer server(1);
  HttpOptions options = Quick();
  int waits = 0;
  options.retry.sleep = [&](double) { return ++waits > 0; };
  const auto env = Connect(server, options);
  const auto first = env->Open().value();
  ExpectError(env->Open(), ErrorKind::kRejected, "Server at capacity: 1/1 sessions",
              "max_concurrent_envs", "sessions_per_server");
  EXPECT_EQ(waits, OpenEnvClient::kSlotWaits);
  options.retry.sleep = [](double) { return false; };
  EXPECT_EQ(Connect(server, options)->Open().error().kind, ErrorKind::kCancelled);
}

TEST(OpenEnv, AServerThatMakesNoEnvironmentSaysWhy) {
  SmallOpenEnvServer server;
  const auto env = Connect(server);
  for (const char* const code : {"FACTORY_ERROR", "SESSION_ERROR"}) {
    server.RefuseAllAs(code);
    ExpectError(env->Open(), ErrorKind::kEnvironment, code, "no environment today");
  }
  EXPECT_EQ(server.active(), 0);
}

TEST(OpenEnv, ARefusedActionIsAnObservationThatChangesNothing) {
  const SmallOpenEnvServer server;
  const auto family = Game().family();
  const auto env = Connect(server);
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  const StepResult refused = session->Step("bad").value();
  EXPECT_EQ(refused, (StepResult{"Invalid action: message: Input is bad", 0, false}));
  EXPECT_TRUE(family->LeavesStateUnchanged("task 7", "bad", refused.observation));
  const StepResult raised = session->Step("raise").value();
  EXPECT_EQ(raised, (StepResult{"The action failed: no such move", 0, false}));
  EXPECT_FALSE(family->LeavesStateUnchanged("task 7", "raise", raised.observation))
      << "nothing says so";
  EXPECT_EQ(session->Step("a").value().observation, "task 7, a");
}

TEST(OpenEnv, AnExceptionIsAFaultWhereTheFileSaysSo) {
  const SmallOpenEnvServer server;
  const auto env = Connect(server, Quick(), "[session]\nfault_patterns = ['^no such']\n");
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  EXPECT_EQ(session->Step("raise").error().kind, ErrorKind::kEnvironment);
  ExpectError(session->Reset(13), ErrorKind::kEnvironment, "there is no task 13 (EXECUTION_ERROR)");
}

TEST(OpenEnv, OtherFieldsThanTheFilesAreMalformed) {
  SmallOpenEnvServer server;
  server.RenameField("words");
  const auto env = Connect(server);
  const auto session = env->Open().value();
  ASSERT_TRUE(session->Reset(7));
  ExpectError(session->Step("a"), ErrorKind::kMalformed, "words: Field required", "[step] body");
}

TEST(OpenEnv, ATextThatIsNoAnswerIsMalformed) {
  SmallOpenEnvServer server;
  const auto env = Connect(server);
  for (const char* const text : {"oops", R"({"type":"observation","data":7})", R"({"type":"what"})",
                                 R"({"type":"error","data":{"code":"UNKNOWN_TYPE"}})"}) {
    server.SayAlways(text);
    const auto session = env->Open().value();
    ASSERT_TRUE(session->Reset(7));
    SCOPED_TRACE(text);
    ExpectError(session->Step("a"), ErrorKind::kMalformed, "this one replied: ");
  }
}

TEST(OpenEnv, AServerWithoutWebSocketIsNamed) {
  LocalServer plain;
  plain.Start();
  HttpEnvironment env(Game().protocol(), {plain.url()}, Quick());
  ExpectError(env.Open(), ErrorKind::kRejected, "/ws",
              "opens no WebSocket there (it answers HTTP 404)");
}

TEST(OpenEnv, WithoutAConnectionTheUnusedProxyIsNamed) {
  ::setenv("http_proxy", "http://ann:secret@127.0.0.1:1", 1);
  HttpOptions options = Quick();
  options.connect_timeout_s = 0.1;
  const auto stats = std::make_shared<CallStats>();
  const HttpClient http(Secret("http://192.0.2.1:9"), options, stats);  // nobody's (RFC 5737)
  ::unsetenv("http_proxy");
  const auto session = OpenEnvClient(http, "/ws", options, stats).Create();
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("without the proxy"));
}

TEST(OpenEnv, ARewardThatIsNullLeavesTheEpisodesAsItIs) {
  const auto told = [](const char* mode, std::vector<std::string> rewards) {
    const TaskKind kind = Game("[reward]\nmode = \"" + std::string(mode) + "\"\n");
    const auto protocol = kind.protocol();
    RewardTally tally;
    double last = 0;
    for (const std::string& reward : rewards) {
      const auto step = protocol->ParseStep(
          R"({"type":"observation","data":{"observation":{"message":""},"done":true,"reward":)" +
          reward + "}}");
      EXPECT_TRUE(step);
      last = protocol->RewardSoFar(tally, *step);
    }
    return last;
  };
  EXPECT_EQ(told("last", {"0.5", "null"}), 0.5);
  EXPECT_EQ(told("sum", {"0.5", "null", "0.25"}), 0.75);
  EXPECT_EQ(told("max", {"0.5", "null", "0.25"}), 0.5);
  EXPECT_EQ(told("delta", {"0.5", "null"}), 0);
  EXPECT_EQ(told("last", {"null"}), 0);
}

TEST(OpenEnv, ACallOfAToolIsHandedThrough) {
  const auto body = [](const std::string& action) {
    return Game("[action]\nformat = \"tool_json\"\n").protocol()->StepBody(1, action);
  };
  EXPECT_EQ(
      body(R"({"name": "echo", "arguments": {"n": 3}})"),
      R"({"type":"step","data":{"type":"call_tool","tool_name":"echo","arguments":{"n":3}}})");
  EXPECT_EQ(body("wait"),
            R"({"type":"step","data":{"type":"call_tool","tool_name":"wait","arguments":{}}})");
  EXPECT_EQ(body("list_tools"), R"({"type":"step","data":{"type":"list_tools"}})");
}

TEST(OpenEnv, SlotsAreCountedAndGivenBack) {
  const SmallOpenEnvServer server(3);
  const HttpOptions options = Quick();
  const auto stats = std::make_shared<CallStats>();
  const HttpClient http(Secret(server.url()), options, stats);
  OpenEnvClient client(http, "/ws", options, stats);
  EXPECT_EQ(client.CountSlots(8), 3);
  EXPECT_EQ(client.CountSlots(2), 2);
  EXPECT_EQ(server.active(), 0);
}

}  // namespace
}  // namespace agentr
