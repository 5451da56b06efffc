#include "clients/env/http_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "clients/env/dialect_protocol.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/expect_error.h"
#include "tests/clients/http/fault_proxy.h"
#include "tests/common/fatal_error.h"
#include "tests/tasks/toy_textcraft.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Without real waits.
HttpOptions QuickHttp(int attempts = 3) {
  HttpOptions options;
  options.timeout_s = 5;
  options.retry.attempts = attempts;
  options.retry.sleep = [](double) { return true; };
  return options;
}

std::unique_ptr<HttpEnvironment> Connect(const std::vector<Secret>& bases,
                                         const HttpOptions& options = QuickHttp()) {
  return std::make_unique<HttpEnvironment>(MakeProtocol("textcraft"), bases, options);
}

std::string UnusedUrl() {
  LocalServer server;
  server.Start();
  return server.url();
}

TEST(HttpEnvironment, PlaysAnEpisodeAndClosesIt) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  {
    auto session = env->Open().value();
    EXPECT_EQ(session->Reset(7).value(), "task 7");
    EXPECT_EQ(session->Step("get 1 log").value(), (StepResult{"task 7, get 1 log", 0, false}));
    EXPECT_EQ(session->Step("win").value(), (StepResult{"task 7, get 1 log, win", 1, true}));
    EXPECT_EQ(session->Reset(8).value(), "task 8");
  }
  EXPECT_EQ(server.sessions(), 0u);
  EXPECT_EQ(env->info().data_hash, "abc");
  EXPECT_EQ(env->info().tasks, 544);
}

TEST(HttpEnvironment, ExpandForksAndLeavesTheSessionWhereItWas) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  ASSERT_TRUE(env->CanExpand());
  {
    auto root = env->Open().value();
    root->Reset(1).value();
    auto forks = root->Expand({"a", "win"}).value();
    ASSERT_EQ(forks.size(), 2u);
    EXPECT_EQ(forks[0].step, (StepResult{"task 1, a", 0, false}));
    EXPECT_EQ(forks[1].step, (StepResult{"task 1, win", 1, true}));
    EXPECT_EQ(forks[0].session->Step("b").value().observation, "task 1, a, b");
    EXPECT_EQ(root->Step("c").value().observation, "task 1, c");
  }
  EXPECT_EQ(server.closes(), 1) << "the server ends forks with their root";
}

TEST(HttpEnvironment, PublicServersHaveNeitherVersionNorExpand) {
  ToyTextCraft server({.version = false, .expand = false});
  const auto env = Connect({server.url()});
  EXPECT_FALSE(env->CanExpand());
  EXPECT_EQ(env->info().server, "");
  EXPECT_EQ(env->Open().value()->Reset(0).value(), "task 0");
}

TEST(HttpEnvironment, OneServerWithoutExpandTurnsItOff) {
  ToyTextCraft one, two({.expand = false});
  EXPECT_FALSE(Connect({one.url(), two.url()})->CanExpand());
}

TEST(HttpEnvironment, AStepWhoseReplyIsLostIsNotRepeated) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  auto session = env->Open().value();
  session->Reset(1).value();
  server.LoseReply("/step");
  ExpectError(session->Step("a"), ErrorKind::kSessionLost, "POST " + server.url() + "/step");
  EXPECT_EQ(server.calls("/step"), 1);
  EXPECT_EQ(session->Reset(1).value(), "task 1");
}

TEST(HttpEnvironment, RewardsThatAddUpNeedTheReplyToEveryStep) {
  ToyTextCraft server;
  for (const RewardMode mode : {RewardMode::kLast, RewardMode::kSum}) {
    HttpDialect dialect;
    dialect.name = "textcraft";
    dialect.mode = mode;
    HttpEnvironment env(std::make_unique<DialectProtocol>(dialect), {server.url()}, QuickHttp());
    auto session = env.Open().value();
    session->Reset(1).value();
    server.LoseReply("/step");
    EXPECT_EQ(session->Step("win").error().kind, ErrorKind::kSessionLost);
    // This server knows no /observation; where rewards add up, it is not even asked.
    EXPECT_EQ(session->Observation().error().kind,
              mode == RewardMode::kSum ? ErrorKind::kSessionLost : ErrorKind::kRejected);
    EXPECT_EQ(session->Reset(1).value(), "task 1");
    EXPECT_EQ(session->Step("win").value().reward, 1);
    EXPECT_EQ(session->Step("win").value().reward, mode == RewardMode::kSum ? 2 : 1);
  }
}

TEST(HttpEnvironment, ResetExpandAndOpenAreRepeated) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  server.LoseReply("/create");
  auto session = env->Open().value();
  server.LoseReply("/reset");
  EXPECT_EQ(session->Reset(3).value(), "task 3");
  server.LoseReply("/expand");
  EXPECT_EQ(session->Expand({"a"}).value()[0].step.observation, "task 3, a");
  EXPECT_EQ(server.calls("/create") + server.calls("/reset") + server.calls("/expand"), 6);
}

TEST(HttpEnvironment, AStepThatCannotConnectIsRepeated) {
  auto server = std::make_unique<ToyTextCraft>();
  HttpOptions options = QuickHttp();
  const int port = server->port();
  // The server comes back, with its state lost, while the step waits.
  options.retry.sleep = [&](double) {
    server = std::make_unique<ToyTextCraft>(ToyTextCraft::Config{.port = port});
    return true;
  };
  const auto env = Connect({server->url()}, options);
  auto session = env->Open().value();
  session->Reset(1).value();
  server->Stop();
  ExpectError(session->Step("a"), ErrorKind::kSessionLost, "lost the session");
  EXPECT_EQ(server->calls("/step"), 1);
  EXPECT_EQ(session->Reset(2).value(), "task 2") << "on a new session of the server";
}

TEST(HttpEnvironment, ARestartIsNoticedWhenAnIdComesTwice) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  auto old = env->Open().value();
  old->Reset(1).value();
  server.Forget();
  auto young = env->Open().value();  // has the id of `old`
  young->Reset(2).value();
  EXPECT_FALSE(old->Step("a")) << "it would act on the other's state";
  EXPECT_EQ(young->Step("b").value().observation, "task 2, b");
  EXPECT_EQ(old->Reset(1).value(), "task 1");
  EXPECT_EQ(young->Step("c").value().observation, "task 2, b, c");
  EXPECT_EQ(server.sessions(), 2u);
}

TEST(HttpEnvironment, ALostSessionOfAServerThatTellsNoStartsEndsThemAll) {
  ToyTextCraft server;
  const auto env = Connect({server.url()});
  std::vector<std::unique_ptr<Session>> old;
  for (int i = 0; i < 3; ++i) {
    old.push_back(env->Open().value());
    old.back()->Reset(i).value();
  }
  server.Forget();
  const auto other = Connect({server.url()});
  auto foreign = other->Open().value();  // another program's, with the id of the first
  foreign->Reset(7).value();
  EXPECT_FALSE(old[2]->Step("a")) << "has an id that is not in use";
  EXPECT_FALSE(old[0]->Step("a"));
  EXPECT_EQ(foreign->Step("b").value().observation, "task 7, b");
}

// Only the first of the sessions of a silent server costs time.
TEST(HttpEnvironment, ASilentServerDoesNotHoldUpTheEndOfARun) {
  LocalServer server;
  std::atomic<int> created = 0, closes = 0;
  std::promise<void> over;
  std::promise<bool> gave_up;  // before the server would have answered
  server->Post("/create", [&](const auto&, auto& response) {
    response.set_content("{\"id\": " + std::to_string(created++) + "}", "application/json");
  });
  server->Post("/close", [&](const auto&, auto&) {
    if (++closes > 1) return;
    const auto end = over.get_future().wait_for(std::chrono::seconds(20));
    gave_up.set_value(end == std::future_status::ready);
  });
  server.Start();
  const auto env = Connect({server.url()});
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(env->Open().value());
  sessions.clear();  // waits two seconds for all of them
  EXPECT_EQ(closes, 1);
  over.set_value();
  EXPECT_TRUE(gave_up.get_future().get());
}

// Frameworks answer so where the code of a server raises an exception for an id.
TEST(HttpEnvironment, ASessionIsLostHoweverTheServerSaysSo) {
  for (const int status : {200, 400, 404, 410, 422, 500}) {
    SCOPED_TRACE(status);
    ToyTextCraft::Config config;
    config.version = config.expand = false;
    config.unknown_session = status;
    ToyTextCraft server(config);
    const auto env = Connect({server.url()}, QuickHttp(1));
    auto played = env->Open().value(), waiting = env->Open().value();
    for (const auto& session : {std::ref(played), std::ref(waiting)})
      session.get()->Reset(1).value();
    server.Forget();
    ExpectError(played->Step("a"), ErrorKind::kSessionLost);
    EXPECT_EQ(played->Reset(2).value(), "task 2");
    EXPECT_EQ(played->Step("b").value().observation, "task 2, b");
    EXPECT_EQ(waiting->Reset(3).value(), "task 3") << "which was idle meanwhile";
  }
}

// Our server tells its starts apart: a session never acts on another one's, whoever that belongs
// to, whatever ids are given out again, with and without extensions.
TEST(HttpEnvironment, ARestartOfOurServerMixesNoSessions) {
  for (const bool extensions : {true, false}) {
    EnvServerOptions options{.task = "textcraft", .port = 0, .no_extensions = !extensions};
    auto server = StartEnvServer(options);
    options.port = server->port();
    const auto env = Connect({server->base_url()});
    std::vector<std::unique_ptr<Session>> old;
    for (int i = 0; i < 3; ++i) {
      old.push_back(env->Open().value());
      old.back()->Reset(31).value();
    }
    server.reset();
    server = StartEnvServer(options);
    const auto other = Connect({server->base_url()});
    std::vector<std::unique_ptr<Session>> foreign;
    for (int i = 0; i < 3; ++i) {
      foreign.push_back(other->Open().value());
      foreign.back()->Reset(31).value();
    }
    const std::string empty = foreign[0]->Step("inventory").value().observation;
    for (const auto& session : old) {
      ExpectError(session->Step("get 1 oak log"), ErrorKind::kSessionLost, "lost the session");
      if (extensions) {
        EXPECT_FALSE(session->Expand({"inventory"}));
      }
    }
    old.pop_back();  // closes nobody's session
    for (const auto& session : foreign) {
      EXPECT_EQ(session->Step("inventory").value().observation, empty);
    }
    EXPECT_TRUE(old[0]->Reset(31)) << "goes on in a new one";
    EXPECT_EQ(old[0]->Step("inventory").value().observation, empty);
  }
}

TEST(HttpEnvironment, AServerThatComesBackWithOtherDataIsRefused) {
  ToyTextCraft::Config config;
  auto server = std::make_unique<ToyTextCraft>(config);
  config.port = server->port();
  const auto env = Connect({server->url()});
  auto session = env->Open().value();
  session->Reset(1).value();
  server.reset();
  config.data_hash = "other";
  server = std::make_unique<ToyTextCraft>(config);
  EXPECT_FALSE(session->Step("a"));
  const auto reset = session->Reset(1);
  ASSERT_FALSE(reset);
  EXPECT_THAT(reset.error().message, HasSubstr("hold different data"));
}

TEST(HttpEnvironment, SessionsSpreadOverTheServers) {
  ToyTextCraft one, two;
  const auto env = Connect({one.url(), two.url()});
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 6; ++i) sessions.push_back(env->Open().value());
  EXPECT_EQ(one.sessions(), 3u);
  EXPECT_EQ(two.sessions(), 3u);
}

TEST(HttpEnvironment, ADeadServerIsLeftOut) {
  ToyTextCraft alive;
  auto dying = std::make_unique<ToyTextCraft>();
  const auto env = Connect({dying->url(), alive.url(), UnusedUrl()});
  auto session = env->Open().value();
  EXPECT_EQ(dying->sessions(), 1u);
  dying->Stop();
  EXPECT_EQ(session->Reset(4).value(), "task 4") << "goes on at another server";
  auto another = env->Open().value();
  EXPECT_EQ(alive.sessions(), 2u);
}

TEST(HttpEnvironment, AServerThatComesLateMustFit) {
  const std::string url = UnusedUrl();
  ToyTextCraft one;
  HttpOptions options = QuickHttp();
  options.cool_down_s = 0;
  const auto env = Connect({one.url(), url}, options);
  ToyTextCraft late({.data_hash = "xyz", .port = std::stoi(url.substr(url.rfind(':') + 1))});
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(env->Open().value());
  EXPECT_EQ(one.sessions(), 4u);
  EXPECT_EQ(late.sessions(), 0u);
  EXPECT_EQ(late.calls("/version"), 1) << "asked once, then left out";
}

TEST(HttpEnvironment, RefusesServersWithDifferentData) {
  ToyTextCraft one, two({.data_hash = "xyz"});
  EXPECT_THAT(FatalErrorOf(ExitCode::kUnavailable,
                           [&] {
                             Connect({one.url(), two.url()});
                           }),
              AllOf(HasSubstr(one.url()), HasSubstr(two.url())));
}

TEST(HttpEnvironment, SaysWhichServerDoesNotAnswerAndTheCure) {
  const std::string url = UnusedUrl();
  EXPECT_THAT(FatalErrorOf(ExitCode::kUnavailable, [&] { Connect({url}); }),
              AllOf(HasSubstr(url + "/version"), HasSubstr("env_server")));
}

// The error of a step in a world whose server gives this reply to each; `calls` counts them.
Error StepError(const std::string& reply, std::atomic<int>& calls) {
  LocalServer server;
  server->Post("/create", [](const auto&, auto& response) {
    response.set_content(R"({"id": 1})", "application/json");
  });
  server->Post("/reset", [](const auto&, auto& response) {
    response.set_content(R"({"observation": "A room."})", "application/json");
  });
  server->Post("/step", [&](const auto&, auto& response) {
    ++calls;
    response.set_content(reply, "application/json");
  });
  server.Start();
  const auto env = Connect({server.url()});
  const auto session = env->Open().value();
  session->Reset(0).value();
  return session->Step("a").error();
}

TEST(HttpEnvironment, AWholeReplyOfAnotherShapeIsMalformedAndShown) {
  for (const char* reply :
       {R"(["You see a door.", 0, false])", R"({"obs": "You see a door."})", "\"You see a door.\"",
        "<html>You see a door.</html>", R"({"observation": "x", "reward": NaN, "done": false})",
        "{'observation': 'x', 'reward': 0, 'done': False}"}) {
    std::atomic<int> calls = 0;
    const Error error = StepError(reply, calls);
    EXPECT_EQ(error.kind, ErrorKind::kMalformed) << reply;
    EXPECT_THAT(error.message, HasSubstr(reply));
    EXPECT_THAT(error.message, HasSubstr(R"({"observation": text, "reward": number)"));
    EXPECT_EQ(calls, 1) << "no repetition can help";
  }
}

TEST(HttpEnvironment, ACutReplyMayHaveBeenTakenAndIsNotMalformed) {
  for (const char* reply : {R"({"observation": "You se)", ""}) {
    std::atomic<int> calls = 0;
    EXPECT_EQ(StepError(reply, calls).kind, ErrorKind::kSessionLost) << reply;
  }
}

// One such reply may be the network's fault; many, and none that could be read, are the server's.
TEST(HttpEnvironment, AServerThatNeverAnswersACallInJsonIsMalformed) {
  for (const char* reply : {"You see a door.", ""}) {
    std::atomic<int> steps = 0;
    bool sound = false;
    LocalServer server;
    server->Post("/create", [](const auto&, auto& response) {
      response.set_content(R"({"id": 1})", "application/json");
    });
    server->Post("/reset", [](const auto&, auto& response) {
      response.set_content(R"({"observation": "A room."})", "application/json");
    });
    server->Post("/step", [&](const auto&, auto& response) {
      ++steps;
      response.set_content(sound ? R"({"observation": "x", "reward": 0, "done": false})" : reply,
                           "application/json");
    });
    server.Start();
    const auto kinds = [&] {
      const auto env = Connect({server.url()});
      std::vector<ErrorKind> seen;
      const auto session = env->Open().value();
      for (int i = 0; i < 6; ++i) {
        session->Reset(0).value();
        if (sound && i == 0) session->Step("a").value();
        sound = false;
        const auto step = session->Step("a");
        seen.push_back(step.error().kind);
        if (seen.back() == ErrorKind::kMalformed) break;
      }
      return seen;
    };
    EXPECT_EQ(kinds(), (std::vector<ErrorKind>{ErrorKind::kSessionLost, ErrorKind::kSessionLost,
                                               ErrorKind::kSessionLost, ErrorKind::kSessionLost,
                                               ErrorKind::kMalformed}));
    EXPECT_EQ(steps, 5);
    sound = true;
    EXPECT_EQ(kinds(), std::vector<ErrorKind>(6, ErrorKind::kSessionLost))
        << "it could be read once";
  }
}

TEST(HttpEnvironment, AnotherServersVersionRouteIsNoneOfOurs) {
  LocalServer server;
  server->Get("/version", [](const auto&, auto& response) {
    response.set_content(R"({"version": "0.3.1"})", "application/json");
  });
  server.Start();
  const auto env = Connect({server.url()});
  EXPECT_EQ(env->info().server, "");
  EXPECT_EQ(env->stats().errors(ErrorKind::kMalformed), 0);
}

TEST(HttpEnvironment, AServerWithoutVersionIsNamedWithItsKind) {
  LocalServer server;
  server.Start();
  testing::internal::CaptureStdout();
  Connect({server.url()});
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr(server.url()), HasSubstr("split are those of textcraft")));
}

// Python's http.server answers 501 where a server's author has written no GET.
TEST(HttpEnvironment, AServerWithoutAnyGetIsOneWithoutVersion) {
  LocalServer server;
  server->Get("/version", [](const auto&, auto& response) { response.status = 501; });
  server.Start();
  EXPECT_NO_THROW(Connect({server.url()}));
}

TEST(HttpEnvironment, SurvivesAFaultyNetwork) {
  ToyTextCraft server;
  FaultProxy proxy(server.url(),
                   {.drop_before = .05,
                    .drop_after = .05,
                    .delay = .02,
                    .status_500 = .05,
                    .garble = .05,
                    .delay_s = .001},
                   /*seed=*/7);
  const auto env = Connect({proxy.url()}, QuickHttp(/*attempts=*/12));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto session = env->Open().value();
      for (int episode = 0; episode < 10; ++episode) {
        std::string observation;
        do {  // what the search does: after an error of Step, from the beginning
          EXPECT_EQ(session->Reset(t).value(), "task " + std::to_string(t));
          for (const char* action : {"a", "b", "win"}) {
            const auto step = session->Step(action);
            if (!step) break;
            observation = step->observation;
          }
        } while (!observation.ends_with("win"));
        EXPECT_EQ(observation, "task " + std::to_string(t) + ", a, b, win");
      }
    });
  }
  threads.clear();
  EXPECT_GT(proxy.count(Fault::kGarble), 0);
  EXPECT_GT(proxy.count(Fault::kDropAfter), 0);
  EXPECT_GT(env->stats().retries(), 0);
  EXPECT_GT(env->stats().errors(ErrorKind::kProtocol), 0);
}

}  // namespace
}  // namespace agentr
