// mcts_collect as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/random.h"
#include "mcts/tree_file.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/fault_proxy.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nlohmann::json LastRun(const std::filesystem::path& folder) {
  return nlohmann::json::parse(ReadFile(folder / "run.json"))["runs"].back();
}

// What holds for every kind of task.
class MctsCollect : public ::testing::TestWithParam<std::string> {
 protected:
  std::string task() const { return GetParam(); }

  // A dozen tasks that are no test ids, with `more` options.
  Arguments Collect(const Arguments& more) const {
    return Words("--min 31 --max 43 --task " + task()) + more;
  }

  // Sixty ids on a server of the test's own, a few trees at once.
  Arguments ManyOn(const std::string& url) const {
    return Words("--min 31 --max 91 --trees_in_flight 4 --task " + task()) +
           Arguments{"--env_server_base", url};
  }

  // The trees that `arguments` make in a folder of their own, which must succeed.
  std::map<std::string, std::string> Trees(const Arguments& arguments) {
    const ScratchFolder folder;
    const Outcome outcome = RunProgram("mcts_collect", arguments, folder.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
    EXPECT_THAT(TemporaryFiles(folder.path()), IsEmpty());
    return TreeFiles(folder.path());
  }

  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Tasks, MctsCollect, ::testing::Values("webshop", "textcraft"),
                         [](const auto& test) { return test.param; });

TEST_P(MctsCollect, TheLineOfTheReadmeWorksWithNothingElseSet) {
  const Arguments line = {"--task", task(), "--min", "0", "--max", "200"};
  const Outcome first = RunProgram("mcts_collect", line, folder_.path());
  ASSERT_EQ(first.exit, 0) << first.err;
  const std::filesystem::path result = folder_.path() / "mcts_result" / task() / "planner";
  const auto trees = TreeFiles(result);
  const int count = task() == "webshop" ? 197 : 128;  // of 200 ids, without the test ids
  EXPECT_EQ(trees.size(), static_cast<size_t>(count));
  const std::string a_test_id = task() == "webshop" ? "26" : "0";
  EXPECT_FALSE(trees.contains("search_results_" + a_test_id + ".json"));
  EXPECT_TRUE(trees.contains("search_results_31.json"));
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(result / "resolved.toml"));

  const nlohmann::json run = LastRun(result);
  EXPECT_EQ(run["options"]["iterations"], 8);
  EXPECT_EQ(run["result"]["finished"], count);
  EXPECT_EQ(run["result"]["environment"]["mismatches"], 0);
  EXPECT_GT(run["result"]["model"]["requests"], 0);
  EXPECT_EQ(run["environment_server"]["data_hash"].get<std::string>().size(), 64U);

  const Outcome second = RunProgram("mcts_collect", line, folder_.path());
  EXPECT_EQ(second.exit, 0);
  EXPECT_THAT(second.out, HasSubstr(fmt::format("0 trees written, {} existed already", count)));
  EXPECT_EQ(TreeFiles(result), trees);
}

TEST_P(MctsCollect, TreesHaveGoodAndBadLeaves) {
  int good = 0;
  int between = 0;
  int bad = 0;
  for (const auto& [name, text] : Trees(Collect({}))) {
    const Tree tree = ReadTree(text, name);
    for (const Node& node : tree.nodes()) {
      if (node.end == End::kNone) continue;
      ++(node.reward >= 1 ? good : node.reward > 0 ? between : bad);
    }
  }
  EXPECT_GT(good, 0);
  EXPECT_GT(bad, 0);
  // A crafted item is there or not; a purchase may fit in part.
  EXPECT_EQ(between > 0, task() == "webshop");
}

TEST_P(MctsCollect, TestIdsAreSearchedOnlyWhenAskedFor) {
  const auto ids = [&](const std::string& split) {
    const bool shop = task() == "webshop";  // 217 is a test id there; 28 to 30 are here
    return Trees({"--task", task(), "--min", shop ? "215" : "28", "--max", shop ? "221" : "34",
                  "--iterations", "1", "--split", split})
        .size();
  };
  const size_t test = task() == "webshop" ? 1 : 3;
  EXPECT_EQ(ids("train"), 6 - test);
  EXPECT_EQ(ids("test"), test);
  EXPECT_EQ(ids("all"), 6U);
}

TEST_P(MctsCollect, TreesDoNotDependOnParallelismOrSessions) {
  const auto server = StartServer(task(), /*extensions=*/false);
  const auto trees = [&](const std::string& in_flight, const std::string& sessions) {
    return Trees(Collect({"--env_server_base", server->base_url(), "--trees_in_flight", in_flight,
                          "--sessions", sessions}));
  };
  const auto expected = trees("1", "1");
  EXPECT_EQ(expected.size(), 12U);
  EXPECT_EQ(trees("32", "1"), expected);
  EXPECT_EQ(trees("1", "16"), expected);
  EXPECT_EQ(trees("32", "16"), expected);
}

TEST_P(MctsCollect, AnotherSeedGivesOtherTrees) {
  EXPECT_NE(Trees(Collect({"--seed", "1"})), Trees(Collect({"--seed", "2"})));
}

// Kills the run again and again: after some more calls, which are too few to end it.
TEST_P(MctsCollect, KilledAtAnyMomentItGoesOnAndLosesNothing) {
  const auto server = StartServer(task());
  FaultProxy proxy(server->base_url(), {}, 0);
  const Arguments line = ManyOn(proxy.url());
  const auto expected = Trees(line);
  const uint64_t all = proxy.calls();
  RandomStream random(20);
  for (int killed = 0; killed < 8; ++killed) {
    proxy.HoldAfter(random.Below(all / 8));
    Program program("mcts_collect", line, folder_.path());
    ASSERT_TRUE(proxy.AwaitHeld([&] { return program.Running(); })) << program.Wait().err;
    program.Signal(SIGKILL);
    program.Wait();
    for (const auto& [name, text] : TreeFiles(folder_.path())) {
      ASSERT_EQ(text, expected.at(name)) << "a half-written or other tree after kill " << killed;
    }
  }
  EXPECT_FALSE(TreeFiles(folder_.path()).empty());
  EXPECT_LT(TreeFiles(folder_.path()).size(), expected.size());
  proxy.HoldAfter(100 * all);
  const Outcome last = RunProgram("mcts_collect", line, folder_.path());
  EXPECT_EQ(last.exit, 0) << last.err;
  EXPECT_EQ(TreeFiles(folder_.path()), expected);
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
}

TEST_P(MctsCollect, TheFirstInterruptEndsItInGoodOrder) {
  const auto server = StartServer(task());
  FaultProxy proxy(server->base_url(), {}, 0);
  proxy.HoldAfter(30);
  const Arguments line = ManyOn(proxy.url());
  Program program("mcts_collect", line, folder_.path());
  ASSERT_TRUE(proxy.AwaitHeld([&] { return program.Running(); })) << program.Wait().err;
  program.Signal(SIGINT);
  proxy.HoldAfter(100'000);
  const Outcome outcome = program.Wait();
  EXPECT_EQ(outcome.exit, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Run the same command again"));
  EXPECT_THAT(outcome.err, HasSubstr("interrupted: waiting"));
  EXPECT_TRUE(
      LastRun(folder_.path() / "mcts_result" / task() / "planner")["result"]["interrupted"]);
}

TEST_P(MctsCollect, AFileThatIsNoTreeIsMovedAsideAndItsTaskSearched) {
  const Arguments line = {"--task", task(), "--min", "31", "--max", "33"};
  ASSERT_EQ(RunProgram("mcts_collect", line, folder_.path()).exit, 0);
  const std::filesystem::path folder = folder_.path() / "mcts_result" / task() / "planner";
  const auto expected = TreeFiles(folder);
  ASSERT_FALSE(expected.empty());
  const auto& [name, whole] = *expected.begin();
  const std::map<std::string, std::string> kinds = {
      {"empty", ""},
      {"cut off", whole.substr(0, whole.size() / 2)},
      {"of another program", R"({"a": [1, 2, 3]})"},
      {"no JSON", "search"},
      {"nested without end", std::string(1'000'000, '[')},
      {"of another task", expected.rbegin()->second}};
  for (const auto& [kind, text] : kinds) {
    if (kind == "of another task" && expected.size() == 1) continue;
    WriteFileAtomically(folder / name, text);
    const Outcome outcome = RunProgram("mcts_collect", line, folder_.path());
    EXPECT_EQ(outcome.exit, 0) << kind << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(name), HasSubstr(name + ".corrupt"))) << kind;
    EXPECT_THAT(outcome.out, HasSubstr("1 trees written")) << kind;
    EXPECT_EQ(ReadFile(folder / (name + ".corrupt")), text) << kind;
    std::filesystem::remove(folder / (name + ".corrupt"));
    EXPECT_EQ(TreeFiles(folder), expected) << kind;
  }
  // What is no file at all is refused, not waited on.
  std::filesystem::remove(folder / name);
  ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
  const Outcome pipe = RunProgram("mcts_collect", line, folder_.path());
  EXPECT_EQ(pipe.exit, 3);
  EXPECT_THAT(pipe.err, AllOf(HasSubstr(name), HasSubstr("a pipe or a device")));
}

TEST_P(MctsCollect, AnEmptyRangeSaysWhereItsIdsAre) {
  const Outcome none = RunProgram(
      "mcts_collect", {"--task", task(), "--min", "26", "--max", "27", "--split", "train"},
      folder_.path());
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("test ids: use --split all"));
}

TEST_P(MctsCollect, TreesOfAnotherOriginAreNotGoneOnFrom) {
  const Arguments line = {"--task", task(), "--min", "31", "--max", "33"};
  const auto with = [&](const Arguments& more) {
    return RunProgram("mcts_collect", line + more, folder_.path());
  };
  ASSERT_EQ(with({}).exit, 0);
  const std::filesystem::path folder = folder_.path() / "mcts_result" / task() / "planner";
  std::filesystem::remove(folder / "run.json");  // as after a kill
  const Outcome planner = with({"--planner_error_rate", "0.9"});
  EXPECT_EQ(planner.exit, 2);
  EXPECT_THAT(planner.err, HasSubstr("another model of the name planner"));
  const Outcome seed = with({"--seed", "7"});
  EXPECT_EQ(seed.exit, 2);
  EXPECT_THAT(seed.err, HasSubstr("--seed 0 there, 7 now"));
  EXPECT_EQ(with({"--seed", "7", "--mix_options", "1"}).exit, 0);
  for (const auto& [name, text] : TreeFiles(folder)) {
    const std::string field = "\"data_hash\":\"";
    std::string other = text;
    other.replace(other.find(field) + field.size(), 4, "beef");
    WriteFileAtomically(folder / name, other);
  }
  const Outcome data = with({});
  EXPECT_EQ(data.exit, 2);
  EXPECT_THAT(data.err, HasSubstr("another task"));
}

TEST_P(MctsCollect, FaultyServersGiveTheSameTrees) {
  for (const bool extensions : {true, false}) {
    SCOPED_TRACE(extensions ? "with /expand" : "plain");
    const auto server = StartServer(task(), extensions);
    const auto at = [&](const std::string& url) {
      return Trees(Collect({"--iterations", "2", "--max_depth", "12", "--env_server_base", url}));
    };
    FaultRates rates;
    rates.drop_before = rates.drop_after = rates.delay = rates.status_500 = rates.garble = 0.04;
    rates.delay_s = 0.002;
    const FaultProxy proxy(server->base_url(), rates, /*seed=*/7);
    EXPECT_EQ(at(proxy.url()), at(server->base_url()));
    for (const Fault fault : {Fault::kDropBefore, Fault::kDropAfter, Fault::kDelay,
                              Fault::kStatus500, Fault::kGarble}) {
      EXPECT_GT(proxy.count(fault), 0) << static_cast<int>(fault);
    }
  }
}

TEST_P(MctsCollect, AgentRFilesHoldTheSameTrees) {
  const auto compact = Trees(Collect({}));
  const auto agent_r = Trees(Collect({"--tree_format", "agent-r"}));
  ASSERT_EQ(compact.size(), agent_r.size());
  for (const auto& [name, text] : agent_r) {
    const Tree theirs = ReadTree(text, name);
    const Tree ours = ReadTree(compact.at(name), name);
    ASSERT_EQ(theirs.size(), ours.size());
    EXPECT_EQ(theirs.root().visits, ours.root().visits);
    EXPECT_EQ(theirs.root().value, ours.root().value);
  }
}

TEST_P(MctsCollect, SaysWhatIsWrongAndWhatHelps) {
  const auto run = [&](const Arguments& arguments) {
    return RunProgram("mcts_collect", arguments, folder_.path());
  };
  const Outcome flag = run({"--iteration", "8"});
  EXPECT_EQ(flag.exit, 2);
  EXPECT_THAT(flag.err, HasSubstr("--iteration"));

  const Outcome unknown = run({"--task", "chess"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("textcraft"));

  const Outcome model = run({"--model_name", "some-model"});
  EXPECT_EQ(model.exit, 2);
  EXPECT_THAT(model.err, HasSubstr("--llm_base"));

  const Outcome server =
      run({"--task", task(), "--env_server_base", "http://127.0.0.1:9", "--env_attempts", "1"});
  EXPECT_EQ(server.exit, 4);
  EXPECT_THAT(server.err, HasSubstr("http://127.0.0.1:9"));

  const Outcome folder = run({"--output_dir", "/proc/none"});
  EXPECT_EQ(folder.exit, 3);
  EXPECT_THAT(folder.err, HasSubstr("/proc/none"));

  const Outcome help = run({"--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_THAT(help.out, HasSubstr("--iterations"));
}

TEST_P(MctsCollect, EnvironmentVariablesOfAgentRAndSavedOptionsWork) {
  const Outcome first = RunProgram(
      "mcts_collect", {"--min", "31", "--max", "33"}, folder_.path(),
      {{"TASK", task()}, {"ITERA", "3"}, {"MAX_DEPTH", "7"}, {"N_GEN", "2"}, {"TEMP", "0.5"}});
  ASSERT_EQ(first.exit, 0) << first.err;
  const std::filesystem::path result = folder_.path() / "mcts_result" / task() / "planner";
  const nlohmann::json options = LastRun(result)["options"];
  EXPECT_EQ(options["iterations"], 3);
  EXPECT_EQ(options["max_depth"], 7);
  EXPECT_EQ(options["n_gen"], 2);
  EXPECT_EQ(options["temperature"], 0.5);

  const ScratchFolder again;
  const Outcome second =
      RunProgram("mcts_collect", {"--config", (result / "resolved.toml").string()}, again.path());
  ASSERT_EQ(second.exit, 0) << second.err;
  EXPECT_EQ(TreeFiles(again.path()), TreeFiles(folder_.path()));
}

TEST_P(MctsCollect, TwoRunsShareAFolder) {
  const Arguments line =
      Words("--min 31 --max 61 --trees_in_flight 2 --model_delay_ms 1 --task " + task());
  Program one("mcts_collect", line, folder_.path());
  const Outcome two = RunProgram("mcts_collect", line, folder_.path());
  EXPECT_EQ(two.exit, 0) << two.err;
  EXPECT_EQ(one.Wait().exit, 0);
  EXPECT_EQ(TreeFiles(folder_.path()), Trees(line));
}

TEST_P(MctsCollect, TreeShowPrintsWhatItWrote) {
  RunProgram("mcts_collect", {"--task", task(), "--min", "31", "--max", "32"}, folder_.path());
  const Outcome shown = RunProgram(
      "tree_show", {"mcts_result/" + task() + "/planner/search_results_31.json"}, folder_.path());
  EXPECT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr(task() + " task 31, model planner"));
  EXPECT_THAT(shown.out, HasSubstr("[done 1]"));
  const Outcome missing = RunProgram("tree_show", {"none.json"}, folder_.path());
  EXPECT_EQ(missing.exit, 3);
  EXPECT_THAT(missing.err, HasSubstr("none.json"));
}

}  // namespace
}  // namespace agentr
