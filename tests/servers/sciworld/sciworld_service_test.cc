#include "servers/sciworld/sciworld_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "servers/env_server.h"
#include "tests/common/fatal_error.h"
#include "tests/servers/env_client.h"
#include "tests/servers/sciworld/fake_simulator.h"

namespace agentr {
namespace {

using nlohmann::json;
using testing::FakeScript;
using testing::FakeSource;
using ::testing::HasSubstr;

class SciWorldServiceTest : public ::testing::Test {
 protected:
  explicit SciWorldServiceTest(
      const FakeScript& script = {.steps = {{.score = 0.5}, {.score = 1, .completed = true}}},
      bool extensions = true, SessionLimits limits = {})
      : SciWorldServiceTest(std::make_unique<FakeSource>(script), extensions, limits) {}
  SciWorldServiceTest(std::unique_ptr<FakeSource> source, bool extensions, SessionLimits limits)
      : source_(source.get()),
        server_(std::make_unique<SciWorldService>(std::move(source), "hash", limits, extensions),
                HttpServiceOptions{}) {}

  int64_t Create() { return client_.Post("/create", nullptr).at("id"); }
  json Reset(int64_t id, int task_id) {
    return client_.Post("/reset", {{"id", id}, {"data_idx", task_id}});
  }
  json About(int64_t id, const std::string& what) {
    return client_.Get(fmt::format("/{}?id={}", what, id));
  }

  FakeSource* const source_;
  EnvServer server_;
  EnvClient client_{server_.port()};
};

TEST_F(SciWorldServiceTest, SpeaksTheProtocolToTheLetter) {
  EXPECT_EQ(client_.Get("/"), "This is environment ScienceWorld.");
  EXPECT_EQ(client_.Post("/create", nullptr), json({{"id", 0}}));
  EXPECT_EQ(client_.Post("/create", json::object()), json({{"id", 1}}));
  const json whole = {{"task_name", "melt"},
                      {"var_num", 2},
                      {"task_description", "Do melt 2"},
                      {"observation", "look around in melt 2: \u00e9\U0001F600"},
                      {"reward", 0},
                      {"score", 0},
                      {"deleted", false},
                      {"done", false}};
  EXPECT_EQ(Reset(1, 32), whole);
  EXPECT_EQ(About(1, "detail"), whole);
  EXPECT_EQ(About(1, "observation"), whole.at("observation"));
  EXPECT_EQ(About(1, "action_hint"),
            json({{"possible_actions", {"open OBJ", "wait"}}, {"possible_objects", {"door"}}}));
  EXPECT_EQ(About(1, "task_description"), json({{"task_description", "Do melt 2"}}));
  EXPECT_EQ(About(1, "goals"), json({{"goals", "goals of melt 2"}}));
  const json step = client_.Step(1, "\u00fc");
  EXPECT_EQ(step, json({{"observation", "\u00fc in melt 2: \u00e9\U0001F600"},
                        {"reward", 50},
                        {"score", 50},
                        {"done", false}}));
  EXPECT_TRUE(step.at("score").is_number_integer());
  EXPECT_EQ(About(1, "detail").at("score"), 50);
  EXPECT_EQ(client_.Post("/close", {{"id", 1}}), true);
  EXPECT_EQ(client_.Post("/close", {{"id", 1}}), false);
}

TEST_F(SciWorldServiceTest, ErrorsToTheLetter) {
  EXPECT_EQ(client_.Step(7, "x"), json({{"error", "The id 7 is not valid."}}));
  const int64_t id = Create();
  EXPECT_EQ(client_.Step(id, "x"),
            json({{"error", "The task with environment 0 has not begun: call /reset."}}));
  Reset(id, 0);
  client_.Step(id, "one");
  EXPECT_EQ(client_.Step(id, "two").at("done"), true);
  const json finished = {{"error", "The task with environment 0 has finished."}};
  EXPECT_EQ(client_.Step(id, "three"), finished);
  EXPECT_EQ(About(id, "observation"), finished);
  EXPECT_EQ(About(id, "detail"), finished);
  EXPECT_EQ(Reset(id, 0).at("done"), false);
  EXPECT_EQ(client_.Step(id, "one").at("score"), 50);
  client_.Post("/close", {{"id", id}});
  const json deleted = {{"error", "The task with environment 0 has been deleted."}};
  EXPECT_EQ(client_.Step(id, "x"), deleted);
  EXPECT_EQ(Reset(id, 0), deleted);
  EXPECT_EQ(client_.status(), 200);
  EXPECT_EQ(About(-1, "goals"), json({{"error", "The id -1 is not valid."}}));
}

TEST_F(SciWorldServiceTest, RequestsThatAreWrongAreRefused) {
  const int64_t id = Create();
  for (const int task_id : {-1, 4639}) {
    EXPECT_THAT(Reset(id, task_id).at("error").get<std::string>(), HasSubstr("0 to 4638"));
  }
  EXPECT_EQ(client_.PostStatus("/step", {{"id", id}}), 422);
  EXPECT_EQ(client_.PostStatus("/reset", {{"id", id}}), 422);
  EXPECT_EQ(client_.GetStatus("/goals?id=x"), 422);
}

TEST_F(SciWorldServiceTest, ASessionWhoseSimulatorFailsIsClosedAndTheOthersGoOn) {
  const int64_t bad = Create();
  const int64_t good = Create();
  Reset(bad, 0);
  Reset(good, 0);
  EXPECT_EQ(source_->Use().live, 2);
  EXPECT_THAT(client_.Step(bad, "crash").at("error").get<std::string>(),
              HasSubstr("java.lang.RuntimeException: planted"));
  EXPECT_EQ(client_.status(), 200);
  EXPECT_EQ(source_->Use().live, 1);
  EXPECT_EQ(client_.Step(bad, "x").at("error"), "The task with environment 0 has been deleted.");
  EXPECT_EQ(client_.Step(good, "x").at("score"), 50);
}

TEST_F(SciWorldServiceTest, ClosingFreesTheSimulator) {
  for (int i = 0; i < 50; ++i) {
    const int64_t id = Create();
    Reset(id, i);
    client_.Post("/close", {{"id", id}});
  }
  EXPECT_EQ(source_->Use().live, 0);
}

TEST_F(SciWorldServiceTest, Extensions) {
  const json version = client_.Get("/version");
  EXPECT_EQ(version.at("task"), "sciworld");
  EXPECT_EQ(version.at("tasks"), 4639);
  EXPECT_EQ(version.at("data_hash"), "hash");
  EXPECT_EQ(version.at("extensions"), json({"expand", "valid_actions", "gold"}));
  const int64_t id = Create();
  Reset(id, 4638);
  EXPECT_EQ(About(id, "valid_actions"), json({{"valid_actions", {"open door"}}}));
  const json gold = {{"gold", {"solve identify-life-stages-2 9"}}};
  EXPECT_EQ(About(id, "gold"), gold);
  client_.Step(id, "one");
  client_.Step(id, "two");
  EXPECT_EQ(About(id, "gold"), gold) << "it is about the task, not the state";
  EXPECT_TRUE(About(id, "valid_actions").contains("error"));
}

// Actions that a fork has taken, as far as the script tells.
std::vector<int> ScoresOf(const json& children) {
  std::vector<int> scores;
  for (const json& child : children.at("children")) scores.push_back(child.at("score"));
  return scores;
}

class SciWorldForksTest : public SciWorldServiceTest {
 protected:
  static FakeScript Script() {
    return {
        .steps = {{.score = 0.1}, {.score = 0.2}, {.score = 0.3}, {.score = 1, .completed = true}},
        .most_forks = 2};
  }
  SciWorldForksTest() : SciWorldServiceTest(Script()) {}

  json Expand(int64_t id, const std::vector<std::string>& actions) {
    return client_.Post("/expand", {{"id", id}, {"actions", actions}});
  }
};

TEST_F(SciWorldForksTest, ChildrenGoOnFromTheStateOfTheirParent) {
  const int64_t root = Create();
  Reset(root, 0);
  const json children = Expand(root, {"one", "other"});
  EXPECT_EQ(children.at("children").at(0), json({{"id", 1},
                                                 {"observation", "one in boil 0: \u00e9\U0001F600"},
                                                 {"reward", 10},
                                                 {"score", 10},
                                                 {"done", false}}));
  EXPECT_EQ(ScoresOf(children), (std::vector{10, 10}));
  EXPECT_EQ(ScoresOf(Expand(1, {"two"})), std::vector{20});
  EXPECT_EQ(ScoresOf(Expand(1, {"two", "again"})), (std::vector{20, 20}));
  EXPECT_EQ(client_.Step(2, "two").at("reward"), 10);
  EXPECT_EQ(client_.Step(2, "three").at("score"), 30);
  EXPECT_EQ(client_.Step(root, "one").at("score"), 10) << "the parent stands where it stood";
}

TEST_F(SciWorldForksTest, SimulatorsThatWereDroppedAreMadeAgain) {
  const int64_t root = Create();
  Reset(root, 0);
  Expand(root, {"a", "b", "c", "d", "e"});
  EXPECT_LE(source_->Use().live, 3) << "the root's and two forks";
  for (int64_t child = 1; child <= 5; ++child) {
    EXPECT_EQ(ScoresOf(Expand(child, {"x"})), std::vector{20}) << child;
  }
  // 6 to 10 are those children's; each replays both actions.
  for (int64_t child = 6; child <= 10; ++child) {
    EXPECT_EQ(client_.Step(child, "y").at("score"), 30) << child;
    EXPECT_EQ(client_.Step(child, "z").at("done"), true) << child;
  }
  EXPECT_LE(source_->Use().live, 3);
}

TEST_F(SciWorldForksTest, AnEndedChildIsFinishedAndTheOthersGoOn) {
  const int64_t root = Create();
  Reset(root, 0);
  for (const char* const action : {"a", "b", "c"}) client_.Step(root, action);
  const json children = Expand(root, {"last", "No known action"});
  EXPECT_EQ(children.at("children").at(0).at("done"), true);
  EXPECT_THAT(client_.Step(1, "x").at("error").get<std::string>(), HasSubstr("has finished"));
  EXPECT_THAT(Expand(1, {"x"}).at("error").get<std::string>(), HasSubstr("has finished"));
  EXPECT_EQ(About(1, "gold"), json({{"gold", {"solve boil 0"}}}));
}

TEST_F(SciWorldForksTest, ARefusedActionDoesNotHideTheNextOne) {
  const int64_t root = Create();
  Reset(root, 0);
  const json children = Expand(root, {"refuse", "one", "refuse", "two"});
  EXPECT_EQ(ScoresOf(children), (std::vector{0, 10, 0, 10}));
  EXPECT_EQ(ScoresOf(Expand(1, {"one"})), std::vector{10}) << "a refused action leads nowhere";
  EXPECT_EQ(ScoresOf(Expand(4, {"one"})), std::vector{20});
}

TEST_F(SciWorldForksTest, ClosingTheRootFreesAllForks) {
  const int64_t root = Create();
  Reset(root, 0);
  Expand(root, {"a", "b"});
  Expand(1, {"c"});
  EXPECT_GT(source_->Use().live, 1);
  client_.Post("/close", {{"id", root}});
  EXPECT_EQ(source_->Use().live, 0);
  EXPECT_THAT(client_.Step(1, "x").at("error").get<std::string>(), HasSubstr("deleted"));
}

class SmallSciWorldTest : public SciWorldServiceTest {
 protected:
  SmallSciWorldTest()
      : SciWorldServiceTest({.steps = {}, .most = 1}, /*extensions=*/false,
                            {.ttl_s = 3600, .max_sessions = 2}) {}
};

TEST_F(SmallSciWorldTest, LimitsSessionsAndSimulators) {
  Reset(Create(), 0);
  const int64_t second = Create();
  EXPECT_THAT(Reset(second, 0).at("error").get<std::string>(), HasSubstr("--jvm_heap"));
  EXPECT_EQ(client_.status(), 503);
  EXPECT_EQ(client_.PostStatus("/create", nullptr), 503);
  client_.Post("/close", {{"id", 0}});
  EXPECT_EQ(Reset(second, 0).at("done"), false);
}

TEST_F(SmallSciWorldTest, OffersNoExtensionsWhereTheyAreTurnedOff) {
  for (const char* path : {"/version", "/gold?id=0", "/valid_actions?id=0"}) {
    EXPECT_EQ(client_.GetStatus(path), 404) << path;
  }
}

TEST(SciWorldServer, SaysWhatToRunWhereTheJarOrTheHeapIsWrong) {
  const auto error = [](ExitCode code, const SciWorldOptions& options) {
    return FatalErrorOf(
        code, [&] { StartEnvServer({.task = "sciworld", .sciworld = options, .port = 0}); });
  };
  EXPECT_THAT(error(ExitCode::kFile, {.jar = "/nowhere/x.jar"}),
              HasSubstr("scripts/setup.sh --sciworld"));
  error(ExitCode::kUsage, {.jar = "", .heap = "much"});
}

}  // namespace
}  // namespace agentr
