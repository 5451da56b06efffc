// agent_train as a job of many processes: the same losses as one, shared-out memory, and an end with
// a name when one of them dies.
#include <gmock/gmock.h>
#include <signal.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <regex>
#include <thread>

#include "tests/cli/training_runs.h"

namespace agentr {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class AgentTrainProcesses : public TrainingRuns {
 protected:
  // Training loss by step, and the held-out losses behind it under the negative of step + 1.
  std::map<int64_t, double> Losses(const std::string& name) const {
    std::map<int64_t, double> losses;
    for (const auto& line : ReadRows(Result(name) / "metrics.jsonl")) {
      const int64_t step = line["step"];
      if (line.contains("held_out")) {
        losses[-step - 1] = line["held_out"]["loss"];
      } else {
        losses[step] = line["train"]["loss"];
      }
    }
    return losses;
  }

  void ExpectSameLosses(const std::string& name, const std::string& of) const {
    const auto a = Losses(name), b = Losses(of);
    ASSERT_EQ(a.size(), b.size()) << name;
    ASSERT_GT(a.size(), 5u);
    for (const auto& [step, loss] : b) EXPECT_NEAR(a.at(step), loss, 1e-5) << name << " " << step;
  }

  // MiB of optimiser state and gradients per process, as printed.
  static std::pair<double, double> Memory(const Outcome& outcome) {
    static const std::regex kLine(
        "each holds ([0-9.]+) MiB of optimiser state and ([0-9.]+) MiB of gradients");
    std::smatch match;
    if (!std::regex_search(outcome.out, match, kLine)) return {NAN, NAN};
    return {std::stod(match[1]), std::stod(match[2])};
  }

  using Environment = std::map<std::string, std::string>;

  // A port that other tests, which run at the same time, do not use.
  static int FreePort() { return 20000 + static_cast<int>(::getpid()) % 10000; }

  static std::vector<Environment> Torchrun(int ranks, int port) {
    std::vector<Environment> all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back({{"RANK", std::to_string(rank)},
                     {"WORLD_SIZE", std::to_string(ranks)},
                     {"LOCAL_RANK", std::to_string(rank)},
                     {"MASTER_ADDR", "127.0.0.1"},
                     {"MASTER_PORT", std::to_string(port)}});
    }
    return all;
  }

  // A process for each of the environments.
  std::vector<std::unique_ptr<Program>> Start(const std::string& name,
                                              const std::vector<Environment>& ranks,
                                              std::map<std::string, std::string> flags) const {
    for (const auto& [flag, file] : {std::pair("--model_dir", "tiny"),
                                     {"--data", "rows.jsonl"},
                                     {"--output_dir", "train_result"}}) {
      flags[flag] = folder_.path() / file;
    }
    std::vector<std::unique_ptr<Program>> programs;
    for (const Environment& environment : ranks) {
      const fs::path folder = folder_.path() / fmt::format("{}-{}", name, programs.size());
      fs::create_directories(folder);
      programs.push_back(
          std::make_unique<Program>("agent_train", Arguments(name, flags), folder, environment));
    }
    return programs;
  }

  // The processes train as one job, with the losses of the run "one".
  void ExpectOneJob(const std::vector<Environment>& ranks) const {
    const auto programs = Start("many", ranks, {{"--max_steps", kSteps}, {"--zero", "1"}});
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const Outcome outcome = programs[rank]->Wait();
      EXPECT_EQ(outcome.exit, 0) << outcome.err;
      if (rank > 0) continue;
      EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} processes, --zero 1", ranks.size())));
    }
    ExpectSameLosses("many", "one");
  }

  // Child processes of the one that runs `agent_train --processes`, by rank.
  std::map<int, pid_t> Ranks(const std::string& name) const {
    std::map<int, pid_t> ranks;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code none;
      if (fs::read_symlink(entry.path() / "cwd", none) != folder_.path()) continue;
      try {
        const std::string command = ReadFile(entry.path() / "cmdline");
        const std::string environment = ReadFile(entry.path() / "environ");
        const size_t at = ('\0' + environment).find(std::string("\0RANK=", 6));
        if (command.find(name) == std::string::npos || at == std::string::npos) continue;
        ranks[std::stoi(environment.substr(at + 5))] = std::stoi(pid);
      } catch (const std::exception&) {  // it has ended meanwhile
      }
    }
    return ranks;
  }

  void WaitForLines(const std::string& name, size_t lines) const {
    const auto begin = Clock::now();
    while (Lines(name) < lines && Clock::now() - begin < std::chrono::seconds(60)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_GE(Lines(name), lines);
  }

  void WaitForTheEndOfRanks(const std::string& name) const {
    const auto begin = Clock::now();
    while (!Ranks(name).empty() && Clock::now() - begin < std::chrono::seconds(30)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(Ranks(name).empty());
  }

  static constexpr const char* kSteps = "6";
};

TEST_F(AgentTrainProcesses, TheLossesAreThoseOfOneProcessAndTheMemoryIsSharedOut) {
  ASSERT_EQ(Train("one", {{"--max_steps", kSteps}}).exit, 0);
  double optimizer = 0, gradients = 0;  // of a process that shares nothing out
  for (const int processes : {2, 4}) {
    for (const int zero : {0, 1, 2}) {
      const std::string name = fmt::format("{}-{}", processes, zero);
      const Outcome outcome = Train(name, {{"--max_steps", kSteps},
                                           {"--processes", std::to_string(processes)},
                                           {"--zero", std::to_string(zero)}});
      ASSERT_EQ(outcome.exit, 0) << outcome.err;
      ExpectSameLosses(name, "one");
      const auto [state, gradient] = Memory(outcome);
      if (zero == 0) std::tie(optimizer, gradients) = std::pair(state, gradient);
      // Up to the padding of spans.
      EXPECT_NEAR(state, optimizer / (zero > 0 ? processes : 1), 0.002) << name;
      EXPECT_NEAR(gradient, gradients / (zero > 1 ? processes : 1), 0.002) << name;
    }
  }
  EXPECT_GT(optimizer, 0.1);
  EXPECT_GT(gradients, 0.05);
}

TEST_F(AgentTrainProcesses, AdaptersAreTrainedByManyToo) {
  const std::map<std::string, std::string> adapters = {{"--lora_rank", "4"},
                                                       {"--max_steps", kSteps}};
  ASSERT_EQ(Train("one", adapters).exit, 0);
  auto many = adapters;
  many.insert({{"--processes", "3"}, {"--zero", "2"}, {"--transport", "tcp"}});
  const Outcome outcome = Train("many", many);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  ExpectSameLosses("many", "one");
}

TEST_F(AgentTrainProcesses, ACheckpointGoesOnInAnotherNumberOfProcesses) {
  ASSERT_EQ(Train("one", {{"--max_steps", "9"}}).exit, 0);
  // Interrupted, not ended, so that the schedule is that of the whole run.
  for (const auto& [name, first, then] :
       {std::tuple("2-3", "2", "3"), std::tuple("2-1", "2", "1"), std::tuple("1-2", "1", "2")}) {
    const std::map<std::string, std::string> begin = {
        {"--max_steps", "9"}, {"--processes", first}, {"--zero", "2"}};
    Program program("agent_train", Arguments(name, begin), folder_.path());
    WaitForLines(name, 4);
    program.Signal(SIGTERM);
    const Outcome stopped = program.Wait();
    ASSERT_EQ(stopped.exit, 130) << stopped.err;
    const size_t before = Lines(name);
    auto more = begin;
    more["--processes"] = then;
    more["--zero"] = "1";
    const Outcome outcome = Train(name, more);
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("continuing from"));
    EXPECT_LT(before, Lines(name));
    ExpectSameLosses(name, "one");
  }
}

TEST_F(AgentTrainProcesses, KilledAtAnyMomentItEndsInTheSameBytes) {
  const std::map<std::string, std::string> options = {
      {"--processes", "2"}, {"--zero", "2"}, {"--max_steps", "9"}};
  ASSERT_EQ(Train("whole", options).exit, 0);
  for (int kill = 0; kill < 2; ++kill) {
    Program program("agent_train", Arguments("killed", options), folder_.path());
    WaitForLines("killed", Lines("killed") + 2);
    program.Signal(SIGKILL);
    program.Wait();
    WaitForTheEndOfRanks("killed");
  }
  const Outcome last = Train("killed", options);
  ASSERT_EQ(last.exit, 0) << last.err;
  EXPECT_EQ(Left("killed"), Left("whole"));
}

TEST_F(AgentTrainProcesses, TheRanksEndWithTheirStarter) {
  const std::map<std::string, std::string> many = {
      {"--processes", "2"}, {"--epochs", "1000000"}, {"--eval_every", "0"}};
  Program program("agent_train", Arguments("many", many), folder_.path());
  WaitForLines("many", 1);
  EXPECT_EQ(Ranks("many").size(), 2u);
  program.Signal(SIGKILL);
  program.Wait();
  WaitForTheEndOfRanks("many");
}

TEST_F(AgentTrainProcesses, AKilledRankEndsTheJobWithItsName) {
  const std::map<std::string, std::string> many = {
      {"--processes", "3"}, {"--epochs", "1000"}, {"--eval_every", "0"}};
  Program program("agent_train", Arguments("many", many), folder_.path());
  WaitForLines("many", 3);
  const std::map<int, pid_t> ranks = Ranks("many");
  ASSERT_EQ(ranks.size(), 3u);
  const auto begin = Clock::now();
  ::kill(ranks.at(1), SIGKILL);
  const Outcome outcome = program.Wait();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.err, ContainsRegex("rank 1 .process [0-9]+. was ended by signal 9"));
  EXPECT_TRUE(Ranks("many").empty());
}

// As torchrun starts them on several machines: nobody watches the processes but they each other.
TEST_F(AgentTrainProcesses, RanksFindEachOtherByTorchrunsVariables) {
  ASSERT_EQ(Train("one", {{"--max_steps", kSteps}}).exit, 0);
  const int port = FreePort();
  ExpectOneJob(Torchrun(2, port));

  const auto programs =
      Start("killed", Torchrun(3, port + 1), {{"--epochs", "1000"}, {"--eval_every", "0"}});
  WaitForLines("killed", 3);
  const auto begin = Clock::now();
  programs[2]->Signal(SIGKILL);
  for (const int rank : {0, 1}) {
    const Outcome outcome = programs[static_cast<size_t>(rank)]->Wait();
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_THAT(outcome.err,
                ContainsRegex("rank 2 .process [0-9]+ on .* has given no sign of life"));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(60));
}

// As srun starts them: the first host of the job has the store, at a port made from the job's number.
TEST_F(AgentTrainProcesses, RanksFindEachOtherBySlurmsVariables) {
  ASSERT_EQ(Train("one", {{"--max_steps", kSteps}}).exit, 0);
  std::vector<Environment> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.push_back({{"SLURM_PROCID", std::to_string(rank)},
                     {"SLURM_NTASKS", "2"},
                     {"SLURM_LOCALID", std::to_string(rank)},
                     {"SLURM_JOB_ID", std::to_string(FreePort() + 2)},
                     {"SLURM_JOB_NODELIST", "localhost,node[2-3]"}});
  }
  ExpectOneJob(ranks);
}

TEST_F(AgentTrainProcesses, AFaultOfOneIsSaidWithItsRank) {
  WriteFileAtomically(folder_.path() / "rows.jsonl", "no row\n");
  const Outcome outcome = Train("many", {{"--processes", "2"}});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, HasSubstr("rank 0: rows.jsonl:1:"));
  EXPECT_THAT(outcome.err, HasSubstr("rank 0 (process"));
}

}  // namespace
}  // namespace agentr
