// Programs that share a database: workers and the server die at random, and each task has one
// result, the same as without faults.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include "clients/http/http_client.h"
#include "common/file.h"
#include "common/random.h"
#include "servers/http/http_service.h"
#include "store/results.h"
#include "tests/cli/program.h"
#include "tests/store/shared_server.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

class Store : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (WhyNoPostgres().empty()) server().Ask("DROP SCHEMA IF EXISTS agentr CASCADE");
  }

  Arguments InStore() const { return {"--store", server().url(), "--store_lease", "2"}; }

  // The trees in the run, under the names that their files would have.
  std::map<std::string, std::string> Trees(const std::string& name) const {
    Database database(Options());
    const RunRecord run = FindRun(database, {"trees", name}).value();
    std::map<std::string, std::string> trees;
    for (const auto& [key, sha256] : HashesOf(database, run.id)) {
      trees[fmt::format("search_results_{}.json", key)] =
          LoadResult(database, run.id, key, std::to_string(key));
    }
    return trees;
  }

  nlohmann::json Status() const {
    const Outcome outcome =
        RunProgram("store_status", {"--store", server().url(), "--json"}, folder_.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }

  ScratchFolder folder_;
};

const Arguments kSearch = {"--task", "textcraft", "--min", "31", "--max", "61"};

TEST_F(Store, TreesAreThoseOfAFolder) {
  const Outcome files = RunProgram("mcts_collect", kSearch, folder_.path());
  ASSERT_EQ(files.exit, 0) << files.err;
  const auto expected = TreeFiles(folder_.path());
  const ScratchFolder other;
  const Outcome first = RunProgram("mcts_collect", kSearch + InStore(), other.path());
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("run textcraft/planner of "));
  EXPECT_EQ(Trees("textcraft/planner"), expected);
  EXPECT_TRUE(TreeFiles(other.path()).empty());
  const Outcome again = RunProgram("mcts_collect", kSearch + InStore(), other.path());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(fmt::format("0 trees written, {} existed", expected.size())));
}

TEST_F(Store, OtherOptionsAreRefusedLikeInAFolder) {
  const Arguments few = {"--task", "textcraft", "--min", "31", "--max", "34"};
  ASSERT_EQ(RunProgram("mcts_collect", few + InStore(), folder_.path()).exit, 0);
  const Arguments other = few + InStore() + Arguments{"--seed", "7"};
  const Outcome refused = RunProgram("mcts_collect", other, folder_.path());
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("run textcraft/planner of"),
                                 HasSubstr("--seed 0 there, 7 now"), HasSubstr("--store_run")));
  const Outcome named =
      RunProgram("mcts_collect", other + Arguments{"--store_run", "seven"}, folder_.path());
  EXPECT_EQ(named.exit, 0) << named.err;
  EXPECT_EQ(Trees("seven").size(), Trees("textcraft/planner").size());
  const Outcome webshop = RunProgram(
      "mcts_collect", {"--task", "webshop", "--store", server().url(), "--store_run", "seven"},
      folder_.path());
  EXPECT_EQ(webshop.exit, 2);
  EXPECT_THAT(webshop.err, HasSubstr("another kind of task (textcraft)"));
}

TEST_F(Store, APasswordIsInNoFile) {
  const std::string url = server().url() + "&password=secret";
  const Outcome outcome =
      RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "32"},
                 folder_.path(), {{"AGENTR_STORE", url}});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(Trees("textcraft/planner").size(), 1U);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.is_regular_file()) {
      EXPECT_THAT(ReadFile(entry.path()), Not(HasSubstr("secret"))) << entry.path();
    }
  }
}

TEST_F(Store, StatusCountsTasksAndWorkers) {
  const Arguments slow =
      InStore() + Words(
                      "--task textcraft --min 31 --max 43 --iterations 2 --model_delay_ms 30 "
                      "--trees_in_flight 2");
  Program worker("mcts_collect", slow, folder_.path());
  nlohmann::json run = nlohmann::json::object();
  while (worker.Running() && run.value("done", 0) == 0) {
    const nlohmann::json runs = Status();
    if (!runs.empty()) run = runs[0];
  }
  EXPECT_EQ(run["name"], "textcraft/planner");
  EXPECT_GT(run["running"], 0);
  EXPECT_GT(run["rate"], 0);
  EXPECT_EQ(run["tasks"].get<int>(), run["done"].get<int>() + run["running"].get<int>() +
                                         run["failed"].get<int>() + run["waiting"].get<int>());
  ASSERT_EQ(run["workers"].size(), 1U);
  EXPECT_EQ(run["workers"][0]["done"], run["done"]);
  EXPECT_EQ(run["workers"][0]["running"], run["running"]);
  EXPECT_EQ(worker.Wait().exit, 0);
  const nlohmann::json end = Status()[0];
  EXPECT_EQ(end["done"], end["tasks"]);
  EXPECT_EQ(end["workers"][0]["name"], "others");
  EXPECT_EQ(end["workers"][0]["done"], end["tasks"]);
}

TEST_F(Store, EpisodesAreThoseOfAFolder) {
  const Arguments play = {"--task", "textcraft", "--min", "0", "--max", "20", "--max_steps", "10"};
  const Outcome files = RunProgram("agent_eval", play, folder_.path());
  ASSERT_EQ(files.exit, 0) << files.err;
  const ScratchFolder other;
  const Outcome stored = RunProgram("agent_eval", play + InStore(), other.path());
  ASSERT_EQ(stored.exit, 0) << stored.err;
  const std::string name = "test_result/textcraft/planner_scripted/summary.csv";
  EXPECT_EQ(ReadFile(other.path() / name), ReadFile(folder_.path() / name));
  EXPECT_TRUE(TreeFiles(other.path()).empty()) << "no episode is a file";
  EXPECT_EQ(Status()[0]["done"], 20);
  const Outcome refused =
      RunProgram("agent_eval", play + InStore() + Arguments{"--seed", "7"}, other.path());
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("seed: 0 there, 7 here"), HasSubstr("--store_run")));
}

// Spoils the stored result of a task.
void Damage(const PostgresServer& server, int64_t key) {
  server.Ask(fmt::format(
      "UPDATE agentr.task SET body = substring(body FROM 1 FOR 20) WHERE key = {}", key));
}

TEST_F(Store, ADamagedTreeIsSearchedAgain) {
  ASSERT_EQ(RunProgram("mcts_collect", kSearch + InStore(), folder_.path()).exit, 0);
  const auto expected = Trees("textcraft/planner");
  const Arguments revise = {"--store", server().url()};
  ASSERT_EQ(RunProgram("path_collect", revise, folder_.path()).exit, 0);
  const std::string rows = "path_result/textcraft_centric.messages.jsonl";
  const std::string whole = ReadFile(folder_.path() / rows);

  Damage(server(), 33);
  const ScratchFolder other;  // without the trees that were fetched before
  const Outcome read = RunProgram("path_collect", revise, other.path());
  EXPECT_EQ(read.exit, 1) << read.err;
  EXPECT_THAT(read.err, AllOf(HasSubstr("task 33 of run textcraft/planner is damaged"),
                              HasSubstr("its task is free again")));
  EXPECT_THAT(read.out, HasSubstr("1 trees were damaged"));
  EXPECT_EQ(Status()[0]["done"].get<size_t>(), expected.size() - 1);
  EXPECT_THAT(Status()[0]["last_error"].get<std::string>(), HasSubstr("damaged"));

  const Outcome again = RunProgram("mcts_collect", kSearch + InStore(), folder_.path());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out,
              HasSubstr(fmt::format("1 trees written, {} existed", expected.size() - 1)));
  EXPECT_EQ(Trees("textcraft/planner"), expected);
  const Outcome revised =
      RunProgram("path_collect", revise + Arguments{"--overwrite", "1"}, other.path());
  EXPECT_EQ(revised.exit, 0) << revised.err;
  EXPECT_TRUE(ReadFile(other.path() / rows) == whole);
}

TEST_F(Store, DamagedEpisodesArePlayedAgain) {
  const Arguments play =
      Arguments{"--task", "textcraft", "--max", "6", "--max_steps", "5"} + InStore();
  ASSERT_EQ(RunProgram("agent_eval", play, folder_.path()).exit, 0);
  const std::string summary = "test_result/textcraft/planner_scripted/summary.csv";
  const std::string whole = ReadFile(folder_.path() / summary);
  Damage(server(), int64_t{3} << 24);  // of task 3
  const Outcome again = RunProgram("agent_eval", play, folder_.path());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("attempt 0 of task 3 in run textcraft/planner_scripted"));
  EXPECT_THAT(again.out, HasSubstr("1 episodes played, 5 existed already"));
  EXPECT_EQ(ReadFile(folder_.path() / summary), whole);
}

TEST_F(Store, TheStatusChecksAllResults) {
  ASSERT_EQ(RunProgram("mcts_collect", kSearch + InStore(), folder_.path()).exit, 0);
  const Arguments check = {"status", "--store", server().url(), "--check"};
  const Outcome good = RunProgram("agentr", check, folder_.path());
  EXPECT_EQ(good.exit, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("trees textcraft/planner"));
  Damage(server(), 33);
  Damage(server(), 34);
  const Outcome bad = RunProgram("agentr", check, folder_.path());
  EXPECT_EQ(bad.exit, 1);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("task 33 is damaged"), HasSubstr("task 34 is damaged"),
                             HasSubstr("free again")));
  const Outcome json = RunProgram("agentr", check + Arguments{"--json"}, folder_.path());
  EXPECT_EQ(json.exit, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out)[0]["damaged"].size(), 0U);
  const Outcome watched = RunProgram("agentr", check + Arguments{"--watch", "1"}, folder_.path());
  EXPECT_EQ(watched.exit, 2);
}

// Rows with the name of another folder for the trees that path_collect fetched.
std::string WithTreesIn(const std::string& folder, std::string rows) {
  const std::string fetched = "path_result/.trees/";
  for (size_t at = rows.find(fetched); at != std::string::npos; at = rows.find(fetched, at)) {
    rows.replace(at, fetched.size(), folder + "/");
  }
  return rows;
}

TEST_F(Store, RowsAreMadeFromStoredTreesAndKept) {
  ASSERT_EQ(RunProgram("mcts_collect", kSearch, folder_.path()).exit, 0);
  const Outcome files = RunProgram("path_collect", {"--task", "textcraft"}, folder_.path());
  ASSERT_EQ(files.exit, 0) << files.err;
  const ScratchFolder other;
  ASSERT_EQ(RunProgram("mcts_collect", kSearch + InStore(), other.path()).exit, 0);
  const Outcome stored = RunProgram("path_collect", {"--store", server().url()}, other.path());
  ASSERT_EQ(stored.exit, 0) << stored.err;
  Database database(Options());
  const RunRecord run = FindRun(database, {"rows", "textcraft/planner"}).value();
  const std::vector<std::string> names = FilesOf(database, run.id);
  EXPECT_THAT(names, Contains("textcraft_centric.messages.jsonl"));
  for (const std::string& name : names) {
    if (!name.ends_with(".jsonl")) continue;
    const std::string rows = WithTreesIn("mcts_result", LoadFile(database, run.id, name, name));
    EXPECT_GT(rows.size(), 1000U) << name;
    EXPECT_TRUE(rows == ReadFile(folder_.path() / "path_result" / name)) << name;
  }
  const ScratchFolder fetched;
  const Outcome copied = RunProgram(
      "store_status", {"--store", server().url(), "--files_to", "copies"}, fetched.path());
  EXPECT_EQ(copied.exit, 0) << copied.err;
  const Outcome other_name = RunProgram(
      "store_status", {"--store", server().url(), "--store_run", "webshp/planner"}, fetched.path());
  EXPECT_EQ(other_name.exit, 2);
  EXPECT_THAT(other_name.err, HasSubstr("textcraft/planner"));
  const std::string name = "textcraft_centric.messages.jsonl";
  EXPECT_TRUE(ReadFile(fetched.path() / "copies/textcraft/planner" / name) ==
              ReadFile(other.path() / "path_result" / name));
}

TEST_F(Store, ARunThatGaveUpStoresNoFilesOfAnotherOne) {
  ASSERT_EQ(RunProgram("mcts_collect", kSearch + InStore(), folder_.path()).exit, 0);
  const Arguments revise = {"--store", server().url()};
  ASSERT_EQ(RunProgram("path_collect", revise, folder_.path()).exit, 0);
  const std::string name = "textcraft_centric.messages.jsonl";
  const auto stored = [&] {
    Database database(Options());
    const RunRecord run = FindRun(database, {"rows", "textcraft/planner"}).value();
    return LoadFile(database, run.id, name, name);
  };
  const std::string rows = stored();
  WriteFileAtomically(folder_.path() / "path_result" / name, "rows of another run");
  HttpService no_model({.port = 0});
  no_model.Start();
  const Outcome gave_up =
      RunProgram("path_collect",
                 revise + Arguments{"--verifier", "actor", "--llm_base",
                                    fmt::format("http://127.0.0.1:{}/v1", no_model.port()),
                                    "--give_up_after", "1"},
                 folder_.path());
  EXPECT_EQ(gave_up.exit, 4) << gave_up.err;
  EXPECT_THAT(gave_up.out, HasSubstr("Run the same command again"));
  EXPECT_TRUE(stored() == rows);
}

TEST_F(Store, MetricsOfARunCanBeRead) {
  // The port of a server that has ended is free.
  const int port = [] {
    HttpService service({.port = 0});
    service.Start();
    return service.port();
  }();
  Program worker("mcts_collect",
                 kSearch + Arguments{"--model_delay_ms", "20", "--trees_in_flight", "2",
                                     "--metrics_port", std::to_string(port)},
                 folder_.path());
  HttpClient client(fmt::format("http://127.0.0.1:{}", port), HttpOptions(),
                    std::make_shared<CallStats>());
  std::string text;
  while (worker.Running() && text.find("agentr_run_done_total 3") == std::string::npos) {
    if (const auto reply = client.Get("/metrics")) text = reply->body;
  }
  EXPECT_THAT(text, AllOf(HasSubstr("# TYPE agentr_run_done_total counter\n"),
                          HasSubstr("agentr_run_tasks "), HasSubstr("agentr_run_failed_total 0\n"),
                          HasSubstr("agentr_run_model_requests_total ")));
}

// How long the kill test goes on, and with how many workers.
struct KillPlan {
  double seconds = 0;  // 0: one round
  int workers = 2;
};

KillPlan PlanOfKills() {
  const char* minutes = std::getenv("AGENTR_KILL_MINUTES");
  if (minutes == nullptr) return {};
  return {60 * std::strtod(minutes, nullptr), 4};
}

struct KillCounts {
  size_t trees = 0;
  int workers = 0, servers = 0, lost_tasks = 0;
};

// Workers on one run.
class Workers {
 public:
  Workers(Arguments arguments, int count) : arguments_(std::move(arguments)) {
    for (int i = 0; i < count; ++i) {
      folders_.push_back(std::make_unique<ScratchFolder>());
      programs_.push_back(nullptr);
      Start(static_cast<size_t>(i));
    }
  }

  size_t size() const { return programs_.size(); }
  void Start(size_t i) {
    programs_[i] = std::make_unique<Program>("mcts_collect", arguments_, folders_[i]->path());
  }
  // True if the worker had not ended by itself.
  bool Kill(size_t i) {
    const bool running = programs_[i]->Running();
    programs_[i]->Signal(SIGKILL);
    programs_[i]->Wait();
    return running;
  }
  bool Running(size_t i) { return programs_[i]->Running(); }
  Outcome Wait(size_t i) { return programs_[i]->Wait(); }

 private:
  const Arguments arguments_;
  std::vector<std::unique_ptr<ScratchFolder>> folders_;
  std::vector<std::unique_ptr<Program>> programs_;
};

class KillTest : public Store {
 protected:
  // One run with a seed of its own, until all its tasks are done.
  void Round(int round, int count) {
    const std::string name = fmt::format("round {}", round);
    const Arguments search = Words(fmt::format(
        "--task textcraft --max 120 --seed {} --trees_in_flight 4 --iterations 2", round));
    const ScratchFolder alone;
    const Outcome outcome = RunProgram("mcts_collect", search, alone.path());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const auto expected = TreeFiles(alone.path());
    Workers workers(search + InStore() + Arguments{"--store_run", name, "--model_delay_ms", "15"},
                    count);
    while (Done(name) < expected.size()) KillSomething(workers);
    for (size_t i = 0; i < workers.size(); ++i) WaitFor(workers, i);
    EXPECT_EQ(Done(name), expected.size());
    EXPECT_TRUE(Trees(name) == expected) << name << ": other trees than without faults";
    counts_.trees += expected.size();
  }

  void KillSomething(Workers& workers) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random_.Below(1500)));
    if (random_.Chance(0.3)) {
      server().Kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.Below(3000)));
      server().Start();
      ++counts_.servers;
    }
    const size_t i = random_.Below(workers.size());
    counts_.workers += workers.Kill(i) ? 1 : 0;
    workers.Start(i);
  }

  // A worker that came while the server was away has ended: it begins anew.
  void WaitFor(Workers& workers, size_t i) {
    Outcome outcome = workers.Wait(i);
    for (int again = 0; outcome.exit != 0 && again < 5; ++again) {
      workers.Start(i);
      outcome = workers.Wait(i);
    }
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    counts_.lost_tasks += outcome.err.find("is discarded") != std::string::npos ? 1 : 0;
  }

  // The number of done tasks of a run.
  size_t Done(const std::string& name) const {
    return std::stoul(server().Ask(fmt::format(
        "SELECT count(finished_at) FROM agentr.task JOIN agentr.run ON run.id = run WHERE name = "
        "'{}'",
        name)));
  }

  RandomStream random_{24};
  KillCounts counts_;
};

// AGENTR_KILL_MINUTES=10 makes rounds for ten minutes, with four workers.
TEST_F(KillTest, WorkersAndTheServerDieAtRandomAndEachTaskIsDoneOnce) {
  { const Database makes_the_tables(Options()); }
  const KillPlan plan = PlanOfKills();
  const auto end = Clock::now() + std::chrono::duration<double>(plan.seconds);
  int rounds = 0;
  do {
    Round(++rounds, plan.workers);
  } while (Clock::now() < end && !HasFailure());
  EXPECT_GT(counts_.workers, 0);
  fmt::print("{} rounds, {} trees; {} workers and {} servers were killed; {} workers lost a task\n",
             rounds, counts_.trees, counts_.workers, counts_.servers, counts_.lost_tasks);
}

}  // namespace
}  // namespace agentr
