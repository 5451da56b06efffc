// agent_train as a job of many processes: the same losses as one, shared-out memory, and an end
// with a name when one of them dies.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/cli/training_runs.h"

namespace agentr {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

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

  // Whether a process of this machine listens at the port: the kernel lists it in state 0A.
  static bool Listens(int port) {
    const std::string address = fmt::format(":{:04X} ", port);
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
      std::istringstream lines(ReadFile(table));
      for (std::string line; std::getline(lines, line);) {
        const size_t at = line.find(address);
        if (at != std::string::npos && at < 50 && line.find(" 0A ") != std::string::npos)
          return true;
      }
    }
    return false;
  }

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

  // A process for each of the environments. `others`: flags with other values than usual.
  std::vector<std::unique_ptr<Program>> Start(
      const std::string& name, const std::vector<Environment>& ranks,
      std::map<std::string, std::string> flags,
      const std::map<std::string, std::string>& others = {}) const {
    flags.insert(
        {{"--model_dir", "tiny"}, {"--data", "rows.jsonl"}, {"--output_dir", "train_result"}});
    for (const auto& [flag, value] : others) flags[flag] = value;
    for (const char* flag : {"--model_dir", "--data", "--output_dir"}) {
      flags[flag] = folder_.path() / flags[flag];
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

  void WaitForLines(Program& program, const std::string& name, size_t lines) const {
    program.WaitUntil([&] { return Lines(name) >= lines; });
    ASSERT_GE(Lines(name), lines);
  }

  // The test would hang.
  void WaitForTheEndOfRanks(const std::string& name) const {
    while (!Ranks(name).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
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
  many.insert({{"--processes", "3"}, {"--zero", "2"}});
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
    WaitForLines(program, name, 4);
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
    WaitForLines(program, "killed", Lines("killed") + 2);
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
  WaitForLines(program, "many", 1);
  EXPECT_EQ(Ranks("many").size(), 2u);
  program.Signal(SIGKILL);
  program.Wait();
  WaitForTheEndOfRanks("many");
}

TEST_F(AgentTrainProcesses, AKilledRankEndsTheJobWithItsName) {
  const std::map<std::string, std::string> many = {
      {"--processes", "3"}, {"--epochs", "1000"}, {"--eval_every", "0"}};
  Program program("agent_train", Arguments("many", many), folder_.path());
  WaitForLines(program, "many", 3);
  const std::map<int, pid_t> ranks = Ranks("many");
  ASSERT_EQ(ranks.size(), 3u);
  ::kill(ranks.at(1), SIGKILL);
  const Outcome outcome = program.Wait();
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
  WaitForLines(*programs[0], "killed", 3);
  programs[2]->Signal(SIGKILL);
  for (const int rank : {0, 1}) {
    const Outcome outcome = programs[static_cast<size_t>(rank)]->Wait();
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_THAT(outcome.err,
                ContainsRegex("rank 2 .process [0-9]+ on .* has given no sign of life"));
  }
}

// As srun starts them: the first host of the job has the store, at a port made from the job's
// number.
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

// Each of two processes is started with options of its own.
TEST_F(AgentTrainProcesses, ProcessesThatDifferAreRefusedBeforeTheFirstStep) {
  WriteTinyModel(folder_.path() / "other", /*seed=*/2);
  WriteFileAtomically(folder_.path() / "other.jsonl", Rows(20));
  struct Difference {
    const char *flag, *value, *said;
  };
  int port = FreePort() + 100;
  for (const auto& [flag, value, said] : std::initializer_list<Difference>{
           {"--lr", "1e-3", "rank 1 has --lr 0.001, rank 0 has 0.003"},
           {"--seed", "5", "rank 1 has --seed 5, rank 0 has 0"},
           {"--batch_rows", "10", "rank 1 has --batch_rows 10, rank 0 has 12"},
           {"--zero", "2", "rank 1 has --zero 2, rank 0 has 0"},
           {"--transport", "tcp", "rank 1 has --transport \"tcp\", rank 0 has \"auto\""},
           {"--data", "other.jsonl", "rank 1 has --data "},
           {"--model_dir", "other", "rank 1 has --model_dir "}}) {
    const std::vector<Environment> ranks = Torchrun(2, port++);
    const auto first = Start("first", {ranks[0]}, {{"--max_steps", kSteps}});
    const auto second = Start("second", {ranks[1]}, {{"--max_steps", kSteps}},
                              {{"--name", "first"}, {flag, value}});
    for (const auto& program : {&first, &second}) {
      const Outcome outcome = program->front()->Wait();
      EXPECT_EQ(outcome.exit, 2) << flag << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(said));
      EXPECT_THAT(outcome.err, Not(HasSubstr("EnforceNotMet"))) << flag;
    }
    EXPECT_EQ(Lines("first"), 0u) << flag;
  }
}

// The same rows and the same model may have other names on other machines.
TEST_F(AgentTrainProcesses, ProcessesMayFindTheSameUnderOtherNames) {
  WriteTinyModel(folder_.path() / "same");
  WriteFileAtomically(folder_.path() / "same.jsonl", Rows(30));
  const std::vector<Environment> ranks = Torchrun(2, FreePort() + 200);
  const auto first = Start("first", {ranks[0]}, {{"--max_steps", "2"}});
  const auto second = Start("second", {ranks[1]}, {{"--max_steps", "2"}},
                            {{"--name", "first"},
                             {"--data", "same.jsonl"},
                             {"--model_dir", "same"},
                             {"--model_threads", "2"}});
  for (const auto& program : {&first, &second}) {
    const Outcome outcome = program->front()->Wait();
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
  }
}

TEST_F(AgentTrainProcesses, AProcessThatNeverComesIsNamed) {
  const std::map<std::string, std::string> patient = {{"--meet_timeout", "12"}};
  const int port = FreePort() + 300;
  // It waits alone for rank 1, or for rank 0; and rank 1 is frozen before its first sign of life.
  const auto alone = Start("alone", {Torchrun(2, port)[0]}, patient);
  const auto without_first = Start("without", {Torchrun(2, port + 1)[1]}, patient);
  const auto waits = Start("waits", {Torchrun(2, port + 2)[0]}, patient);
  const auto frozen = Start("frozen", {Torchrun(2, port + 2)[1]}, patient);
  frozen[0]->Signal(SIGSTOP);
  const auto expect_named = [](const std::vector<std::unique_ptr<Program>>& programs, int rank) {
    const Outcome outcome = programs[0]->Wait();
    EXPECT_EQ(outcome.exit, 4) << outcome.err;
    const std::string name = fmt::format("rank {}", rank);
    EXPECT_THAT(outcome.err, HasSubstr("waiting for " + name + " (for at most 12 s"));
    EXPECT_THAT(outcome.err, ContainsRegex((rank == 0 ? "reach " : "come to .*: ") + name));
  };
  expect_named(alone, 1);
  expect_named(without_first, 0);
  expect_named(waits, 1);
}

// Its kernel still accepts connections, so that the others get as far as to wait for an answer.
TEST_F(AgentTrainProcesses, AFirstProcessThatFreezesWhileTheyMeetIsNamed) {
  const std::map<std::string, std::string> patient = {{"--meet_timeout", "5"}};
  const int port = FreePort() + 400;
  const auto first = Start("first", {Torchrun(2, port)[0]}, patient);
  while (first[0]->Running() && !Listens(port)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  first[0]->Signal(SIGSTOP);
  const auto second = Start("second", {Torchrun(2, port)[1]}, patient);
  const Outcome outcome = second[0]->Wait();
  EXPECT_THAT(outcome.exit, AnyOf(1, 4)) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("rank 0"));
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
