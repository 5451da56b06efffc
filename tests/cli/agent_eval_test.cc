// agent_eval as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/random.h"
#include "eval/episode_store.h"
#include "tasks/action_text.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/fault_proxy.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Files = std::map<std::string, std::string>;

class AgentEval : public ::testing::TestWithParam<std::string> {
 protected:
  std::string task() const { return GetParam(); }

  // The first test tasks, with `more` options.
  Arguments Line(const Arguments& more = {}, const std::string& max = "12") const {
    return Arguments{"--task", task(), "--max_steps", "30", "--max", max} + more;
  }

  static Outcome RunIn(const fs::path& folder, const Arguments& arguments) {
    return RunProgram("agent_eval", arguments, folder);
  }
  Outcome Run(const Arguments& arguments) const { return RunIn(folder_.path(), arguments); }

  fs::path Result(const std::string& model = "planner_scripted") const {
    return folder_.path() / "test_result" / task() / model;
  }

  static Files Summaries(const fs::path& result) {
    Files files;
    for (const char* name : {"summary.json", "summary.csv"}) {
      if (fs::exists(result / name)) files[name] = ReadFile(result / name);
    }
    return files;
  }

  // What an undisturbed run with `arguments` sums up to, in a folder of its own.
  Files Expected(const Arguments& arguments) const {
    const ScratchFolder folder;
    const Outcome outcome = RunIn(folder.path(), arguments);
    EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
    EXPECT_THAT(TemporaryFiles(folder.path()), IsEmpty());
    Files files = Summaries(folder.path() / "test_result" / task() / "planner_scripted");
    EXPECT_EQ(files.size(), 2U);
    return files;
  }

  nlohmann::json Summary() const {
    return nlohmann::json::parse(ReadFile(Result() / "summary.json"));
  }
  nlohmann::json LastRun(const fs::path& result) const {
    return nlohmann::json::parse(ReadFile(result / "run.json"))["runs"].back();
  }

  const ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Tasks, AgentEval, ::testing::Values("webshop", "textcraft"),
                         [](const auto& test) { return test.param; });

TEST_P(AgentEval, PlaysTestTasksAndPrintsATable) {
  // As in the original's lines, the task comes from the environment.
  const Arguments line = {"--max_steps", "30", "--max", "12"};
  const Outcome first = RunProgram("agent_eval", line, folder_.path(), {{"TASK", task()}});
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("reward"), HasSubstr("12 episodes played"),
                               HasSubstr(fmt::format("test_result/{}/planner_scripted", task()))));
  const Files episodes = TreeFiles(Result());
  EXPECT_EQ(episodes.size(), 12U);
  EXPECT_TRUE(
      episodes.contains(task() == "webshop" ? "search_results_26.json" : "search_results_0.json"));
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
  EXPECT_TRUE(fs::exists(Result() / "resolved.toml"));
  EXPECT_EQ(LastRun(Result())["result"]["finished"], 12);
  EXPECT_EQ(LastRun(Result())["result"]["environment"]["mismatches"], 0);
  EXPECT_EQ(Summary()["asked_for"], 12);

  const Files summaries = Summaries(Result());
  const Outcome second = RunProgram("agent_eval", line, folder_.path(), {{"TASK", task()}});
  EXPECT_EQ(second.exit, 0);
  EXPECT_THAT(second.out, HasSubstr("0 episodes played, 12 existed already"));
  EXPECT_EQ(TreeFiles(Result()), episodes);
  EXPECT_EQ(Summaries(Result()), summaries);
}

TEST_P(AgentEval, SavedOptionsPlayTheSame) {
  ASSERT_EQ(Run(Line()).exit, 0);
  EXPECT_EQ(Expected({"--config", (Result() / "resolved.toml").string()}), Summaries(Result()));
}

TEST_P(AgentEval, NumbersDoNotDependOnParallelism) {
  const Files expected = Expected(Line({"--episodes_in_flight", "1"}));
  EXPECT_EQ(Expected(Line({"--episodes_in_flight", "32"})), expected);
  EXPECT_EQ(Expected(Line({"--sessions", "2"})), expected);
  EXPECT_NE(Expected(Line({"--seed", "1"})), expected);
}

// Kills the run again and again: after some more calls, which are too few to end it.
TEST_P(AgentEval, KilledAtAnyMomentItGoesOnAndPlaysNothingTwice) {
  const Files expected = Expected(Line({}, "60"));
  const auto server = StartServer(task());
  FaultProxy proxy(server->base_url(), {}, 0);
  const Arguments line =
      Line({"--episodes_in_flight", "4", "--env_server_base", proxy.url()}, "60");
  EXPECT_EQ(Expected(line), expected);
  const uint64_t all = proxy.calls();
  RandomStream random(20);
  Files seen;  // with their timings: an episode that was played again would be another file
  // On a slow disk no episode may be written yet after eight.
  for (int killed = 0; killed < 8 || (seen.empty() && killed < 80); ++killed) {
    proxy.HoldAfter(random.Below(all / 8));
    Program program("agent_eval", line, folder_.path());
    ASSERT_TRUE(proxy.AwaitHeld([&] { return program.Running(); })) << program.Wait().err;
    program.Signal(SIGKILL);
    program.Wait();
    const Files now = TreeFiles(folder_.path());
    for (const auto& [name, text] : seen) ASSERT_EQ(now.at(name), text) << name << " again";
    seen = now;
  }
  EXPECT_FALSE(seen.empty());
  EXPECT_LT(seen.size(), 60U);
  proxy.HoldAfter(100 * all);
  const Outcome last = Run(line);
  EXPECT_EQ(last.exit, 0) << last.err;
  const Files now = TreeFiles(folder_.path());
  EXPECT_EQ(now.size(), 60U);
  for (const auto& [name, text] : seen) EXPECT_EQ(now.at(name), text) << name << " again";
  EXPECT_EQ(Summaries(Result()), expected);
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
}

TEST_P(AgentEval, TheFirstInterruptEndsItInGoodOrder) {
  const auto server = StartServer(task());
  FaultProxy proxy(server->base_url(), {}, 0);
  proxy.HoldAfter(30);
  const Arguments line =
      Line({"--episodes_in_flight", "2", "--env_server_base", proxy.url()}, "60");
  Program program("agent_eval", line, folder_.path());
  ASSERT_TRUE(proxy.AwaitHeld([&] { return program.Running(); })) << program.Wait().err;
  program.Signal(SIGINT);
  proxy.HoldAfter(100'000);
  const Outcome outcome = program.Wait();
  EXPECT_EQ(outcome.exit, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Run the same command again"));
  EXPECT_TRUE(LastRun(Result())["result"]["interrupted"]);
}

TEST_P(AgentEval, FaultyServersGiveTheSameNumbers) {
  for (const bool extensions : {true, false}) {
    const auto server = StartServer(task(), extensions);
    FaultRates rates;
    rates.drop_before = rates.drop_after = rates.delay = rates.status_500 = rates.garble = 0.04;
    rates.delay_s = 0.002;
    const FaultProxy proxy(server->base_url(), rates, /*seed=*/7);
    EXPECT_EQ(Expected(Line({"--env_server_base", proxy.url()})),
              Expected(Line({"--env_server_base", server->base_url()})));
    for (const Fault fault : {Fault::kDropBefore, Fault::kDropAfter, Fault::kDelay,
                              Fault::kStatus500, Fault::kGarble}) {
      EXPECT_GT(proxy.count(fault), 0) << static_cast<int>(fault);
    }
  }
}

TEST_P(AgentEval, TwoRunsShareAFolder) {
  const Arguments line = Line({"--episodes_in_flight", "2", "--model_delay_ms", "1"}, "30");
  Program one("agent_eval", line, folder_.path());
  const Outcome two = Run(line);
  const Outcome first = one.Wait();
  // Who ends first does not have the results of what the other one still plays.
  EXPECT_EQ(std::min(two.exit, first.exit), 0) << two.err << first.err;
  EXPECT_LE(std::max(two.exit, first.exit), 1) << two.err << first.err;
  int played = 0;
  const auto file = nlohmann::json::parse(ReadFile(Result() / "run.json"));
  for (const auto& run : file["runs"]) played += run["result"]["finished"].get<int>();
  EXPECT_EQ(played, 30) << "no episode twice";
  EXPECT_EQ(Summaries(Result()), Expected(line));
}

TEST_P(AgentEval, ASummaryOfMoreEpisodesIsKeptUnderAnotherName) {
  ASSERT_EQ(Run(Line()).exit, 0);
  const Files all = Summaries(Result());
  const Outcome fewer = Run(Line({}, "5"));
  EXPECT_EQ(fewer.exit, 0) << fewer.err;
  EXPECT_THAT(fewer.out, HasSubstr("summary.12_episodes.json"));
  EXPECT_EQ(Summary()["with_result"], 5);
  EXPECT_EQ(ReadFile(Result() / "summary.12_episodes.json"), all.at("summary.json"));
  EXPECT_EQ(ReadFile(Result() / "summary.12_episodes.csv"), all.at("summary.csv"));
  const Outcome again = Run(Line());
  EXPECT_THAT(again.out, Not(HasSubstr("summary.5_episodes")));
  EXPECT_EQ(Summaries(Result()), all);
}

TEST_P(AgentEval, CountsRevisionsInThoughtsOfAFinishedEvaluation) {
  ASSERT_EQ(Run(Line()).exit, 0);
  EXPECT_EQ(Summary()["revision_events"], 0);
  const std::string thought(ThoughtOf(ReadEpisodes(Result()).front().episode.turns[0].response));
  ASSERT_FALSE(thought.empty());
  WriteFileAtomically(folder_.path() / "said.txt", thought + "\n");
  const Outcome counted = Run(Line({"--thoughts", "said.txt"}));
  EXPECT_EQ(counted.exit, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("0 episodes played, 12 existed already"));
  EXPECT_EQ(Summary()["revision_thoughts"], nlohmann::json({thought}));
  EXPECT_GE(Summary()["revision_events"], 1);
  WriteFileAtomically(folder_.path() / "said.txt", "# nothing\n");
  const Outcome none = Run(Line({"--thoughts", "said.txt"}));
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("said.txt has no revision thought"));
}

TEST_P(AgentEval, WhatIsIncompleteExitsWithOne) {
  Program program("agent_eval", Line({"--episodes_in_flight", "2", "--model_delay_ms", "5"}, "30"),
                  folder_.path());
  program.WaitUntil([&] { return TreeFiles(folder_.path()).size() >= 5; });
  fs::rename(folder_.path() / "test_result", folder_.path() / "gone");
  const Outcome outcome = program.Wait();
  EXPECT_EQ(outcome.exit, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("INCOMPLETE"), HasSubstr("again to continue")));
  EXPECT_EQ(Summary()["complete"], false);
}

TEST_P(AgentEval, PlaysEachTaskSeveralTimes) {
  const Outcome outcome = Run(Line({"--attempts", "3"}, "5"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const std::vector<StoredEpisode> episodes = ReadEpisodes(Result());
  ASSERT_EQ(episodes.size(), 15U);
  int different = 0;
  for (size_t i = 0; i < episodes.size(); ++i) {
    EXPECT_EQ(episodes[i].episode.attempt, static_cast<int>(i % 3));
    different += i % 3 > 0 && episodes[i].episode.turns != episodes[i - 1].episode.turns ? 1 : 0;
  }
  EXPECT_GT(different, 5);
  EXPECT_EQ(nlohmann::json::parse(episodes[0].options)["temperature"], 1.0)
      << "attempts of a greedy model would all be the same";
  EXPECT_THAT(outcome.out, HasSubstr("k=3"));
}

TEST_P(AgentEval, AServerThatDiesIsNoRewardOfZero) {
  const Arguments line = Line({"--episodes_in_flight", "4", "--model_delay_ms", "2"}, "60");
  const auto at = [&](const std::string& url) {
    return line + Words("--env_attempts 1 --max_tries 1 --give_up_after 8 --env_server_base") +
           Arguments{url};
  };
  auto server = StartServer(task());
  Program program("agent_eval", at(server->base_url()), folder_.path());
  program.WaitUntil([&] { return TreeFiles(folder_.path()).size() >= 5; });
  server.reset();
  const Outcome outcome = program.Wait();
  EXPECT_EQ(outcome.exit, 4) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("environment_error"), HasSubstr("INCOMPLETE"),
                                 HasSubstr("gave up"), HasSubstr("again to continue")));
  const size_t written = TreeFiles(folder_.path()).size();
  EXPECT_GE(written, 5U);
  EXPECT_LT(written, 60U);
  EXPECT_GT(LastRun(Result())["result"]["failed"].size(), 0U);

  server = StartServer(task());
  EXPECT_EQ(Run(at(server->base_url())).exit, 0);
  EXPECT_EQ(Summaries(Result()), Expected(line));
}

TEST_P(AgentEval, GoesOnFromFailedTrajectories) {
  ASSERT_EQ(Run(Line({"--planner_error_rate", "0.5"}, "30")).exit, 0);
  const auto from = [&](const fs::path& result) {
    return Words("--max_steps 30 --planner_error_rate 0 --task " + task()) +
           Arguments{"--revision_from", result.string()};
  };
  const Arguments line = from(Result());
  const Outcome outcome = Run(line);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("revision test"), HasSubstr("now a success")));
  const fs::path result = Result("planner_scripted_revision_of_planner_scripted");
  const auto test = nlohmann::json::parse(ReadFile(result / "summary.json"))["revision_test"];
  std::map<int, Episode> failed;
  for (StoredEpisode& stored : ReadEpisodes(Result())) {
    const int id = stored.episode.task_id;
    if (stored.episode.reward < 1) failed[id] = std::move(stored.episode);
  }
  EXPECT_EQ(test["trajectories"], failed.size());
  EXPECT_EQ(test["gone_on_from"], failed.size());
  EXPECT_EQ(test["replay_differences"], 0);
  EXPECT_GT(test["turned_into_success"], 0) << "the planner makes no more mistakes";
  EXPECT_GT(test["mean_reward_after"], test["mean_reward_before"]);
  size_t replayed = 0;
  for (const StoredEpisode& stored : ReadEpisodes(result)) {
    const Episode& episode = stored.episode;
    const Episode& before = failed.at(episode.task_id);
    replayed += episode.replayed_turns;
    ASSERT_GT(episode.replayed_turns, 0U);
    ASSERT_LT(episode.replayed_turns, before.turns.size());
    for (size_t i = 0; i < episode.replayed_turns; ++i) {
      EXPECT_EQ(episode.turns[i].response, before.turns[i].response);
      EXPECT_EQ(episode.turns[i].observation, before.turns[i].observation);
    }
  }
  EXPECT_EQ(test["replayed_turns"], replayed);

  const Files summaries = Summaries(result);
  EXPECT_EQ(Run(line).exit, 0);
  EXPECT_EQ(Summaries(result), summaries);
  const Outcome refused = Run(line + Words("--cut 1"));
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("cut: \"seeded\" there, \"1\" here"));

  // Other trajectories under the same name are noticed, and the range of tasks counts.
  ASSERT_EQ(
      Run(Line({"--planner_error_rate", "0.5", "--seed", "9", "--output_dir", "other"}, "30")).exit,
      0);
  const Arguments elsewhere = from(folder_.path() / "other" / task() / "planner_scripted");
  const Outcome mixed = Run(elsewhere);
  EXPECT_EQ(mixed.exit, 2);
  EXPECT_THAT(mixed.err, HasSubstr("another trajectory"));
  ASSERT_EQ(Run(elsewhere + Words("--max 10 --output_dir third")).exit, 0);
  const Files few = TreeFiles(folder_.path() / "third" / task() /
                              "planner_scripted_revision_of_planner_scripted");
  EXPECT_GE(few.size(), 1U);
  EXPECT_LE(few.size(), 10U);
}

TEST_P(AgentEval, ComparesTwoRuns) {
  ASSERT_EQ(Run(Line({"--model_type", "good", "--planner_error_rate", "0.1"}, "40")).exit, 0);
  ASSERT_EQ(Run(Line({"--model_type", "bad", "--planner_error_rate", "0.6"}, "40")).exit, 0);
  const std::string good = Result("planner_good").string();
  const std::string bad = Result("planner_bad").string();
  const Outcome outcome = Run({"--compare", bad, good, "--compare_json", "found.json"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("A: " + bad), HasSubstr("B: " + good),
                    HasSubstr("model_identity: \"error rate 0.6\" A, \"error rate 0.1\" B"),
                    HasSubstr("40 tasks")));
  const auto found = nlohmann::json::parse(ReadFile(folder_.path() / "found.json"));
  EXPECT_EQ(found["won"].size() + found["lost"].size() + found["ties"].get<size_t>(), 40U);
  EXPECT_GT(found["reward"]["difference"]["mean"], 0);
  EXPECT_EQ(found["options"]["a"]["model_identity"], "error rate 0.6");
  const std::string other_task = task() == "webshop" ? "textcraft" : "webshop";
  ASSERT_EQ(Run({"--task", other_task, "--max", "3", "--max_steps", "30"}).exit, 0);
  const Outcome games =
      Run({"--compare", good,
           (folder_.path() / "test_result" / other_task / "planner_scripted").string()});
  EXPECT_EQ(games.exit, 2);
  EXPECT_THAT(games.err, HasSubstr(other_task));
  EXPECT_EQ(Run({"--compare", good}).exit, 2);
  EXPECT_EQ(Run({"--compare", good, folder_.path().string()}).exit, 3);
}

TEST_P(AgentEval, ComparesArmsOfSeveralTrainings) {
  for (const char* seed : {"1", "2"}) {
    for (const char* rate : {"0.1", "0.6"}) {
      ASSERT_EQ(Run(Line({"--model_type", std::string(rate) + "_" + seed, "--seed", seed,
                          "--planner_error_rate", rate},
                         "40"))
                    .exit,
                0);
    }
  }
  const auto arm = [&](const std::string& name, const std::string& rate) {
    return name + "=" + Result("planner_" + rate + "_1").string() + "," +
           Result("planner_" + rate + "_2").string();
  };
  const Outcome outcome = Run(
      {"--arm", arm("often", "0.6"), "--arm", arm("seldom", "0.1"), "--compare_json", "arms.json"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("40 tasks"), HasSubstr("seldom"), HasSubstr("end in a loop")));
  const auto found = nlohmann::json::parse(ReadFile(folder_.path() / "arms.json"));
  EXPECT_EQ(found["arms"][1]["trainings"], 2);
  EXPECT_GT(found["arms"][1]["reward_difference"]["low"], 0);
  EXPECT_EQ(Run({"--arm", arm("often", "0.6")}).exit, 2) << "with what?";
  for (const char* none : {"often", "often=", "often=,", "=often"}) {
    const Outcome refused = Run({"--arm", none, "--arm", arm("seldom", "0.1")});
    EXPECT_EQ(refused.exit, 2) << none;
    EXPECT_THAT(refused.err, HasSubstr("NAME=DIR,DIR")) << none;
  }
  const Outcome which =
      Run({"--arm", "often=" + folder_.path().string(), "--arm", arm("seldom", "0.1")});
  EXPECT_EQ(which.exit, 3);
  EXPECT_THAT(which.err, AllOf(HasSubstr("4 evaluations"), HasSubstr("planner_0.6_2")));

  const auto one = [&](const std::string& name, const std::string& of) {
    return name + "=" + Result("planner_" + of).string();
  };
  const Outcome twice = Run({"--arm", one("often", "0.6_1"), "--arm", one("seldom", "0.1_1"),
                             "--arm", one("often", "0.6_2"), "--arm", one("seldom", "0.1_2")});
  ASSERT_EQ(twice.exit, 0) << twice.err;
  EXPECT_THAT(twice.out, HasSubstr("2 repetitions of the experiment"));
  const Outcome uneven = Run({"--arm", one("often", "0.6_1"), "--arm", one("seldom", "0.1_1"),
                              "--arm", one("seldom", "0.1_2")});
  EXPECT_EQ(uneven.exit, 2);
  EXPECT_THAT(uneven.err, HasSubstr("seldom has 2 repetitions"));
}

TEST_P(AgentEval, RefusesAFolderOfOtherOptionsAndBadFiles) {
  ASSERT_EQ(Run(Line()).exit, 0);
  const Files summaries = Summaries(Result());
  const Outcome other = Run(Line({"--seed", "7"}));
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("seed: 0 there, 7 here"), HasSubstr("--output_dir")));

  const fs::path path = Result() / TreeFiles(Result()).begin()->first;
  const std::string whole = ReadFile(path);
  WriteFileAtomically(path, whole.substr(0, whole.size() / 2));
  const Outcome cut = Run(Line());
  EXPECT_EQ(cut.exit, 3);
  EXPECT_THAT(cut.err, AllOf(HasSubstr(path.filename().string()), HasSubstr("move it away")));
  EXPECT_EQ(Summaries(Result()), summaries) << "left alone";
  fs::remove(path);
  EXPECT_EQ(Run(Line()).exit, 0);
  EXPECT_EQ(Summaries(Result()), summaries);
}

TEST_P(AgentEval, SaysWhatIsWrongAndWhatHelps) {
  const Outcome server =
      Run(Line({"--env_server_base", "http://127.0.0.1:9", "--env_attempts", "1"}));
  EXPECT_EQ(server.exit, 4);
  EXPECT_THAT(server.err, HasSubstr("http://127.0.0.1:9"));
  const Outcome split = Run({"--task", task(), "--split", "none.txt"});
  EXPECT_EQ(split.exit, 3);
  EXPECT_THAT(split.err, HasSubstr("none.txt"));
  const Outcome model = Run({"--model_name", "some-model"});
  EXPECT_EQ(model.exit, 2);
  EXPECT_THAT(model.err, HasSubstr("--llm_base"));
  const Outcome context = Run(Line({"--max_context", "500", "--max_new_tokens", "500"}));
  EXPECT_EQ(context.exit, 2);
  EXPECT_THAT(context.err, HasSubstr("--max_context 500 leaves no room"));
  EXPECT_EQ(Run(Line({"--cut", "1"})).exit, 2);
  EXPECT_EQ(Run(Line({"--compare_json", "found.json"})).exit, 2);
  const auto server_of_task = StartServer(task());
  const Outcome wrong =
      Run({"--task", "babyai", "--split", "all", "--max", "2", "--model_name", "m", "--llm_base",
           "http://127.0.0.1:9/v1", "--env_server_base", server_of_task->base_url()});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("is a server for " + task() + ", not for babyai"));
  const Outcome from = Run({"--task", task(), "--revision_from", "none"});
  EXPECT_EQ(from.exit, 3);
  EXPECT_THAT(from.err, HasSubstr("none"));
  const Outcome output = Run(Line({"--output_dir", "/proc/none"}));
  EXPECT_EQ(output.exit, 3);
  const Outcome help = Run({"--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--revision_from"), Not(HasSubstr("--n_gen"))));
}

TEST_P(AgentEval, PlaysTheIdsOfAFile) {
  WriteFileAtomically(folder_.path() / "ids.txt", "33\n31\n40\n");
  const Outcome outcome = Run({"--task", task(), "--max_steps", "30", "--split", "ids.txt"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(TreeFiles(Result()).size(), 3U);
  EXPECT_TRUE(fs::exists(Result() / "search_results_31.json"));
}

}  // namespace
}  // namespace agentr
