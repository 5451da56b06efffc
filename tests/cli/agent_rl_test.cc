// agent_rl as a process: it goes on after kills to the same bytes, and says what does not fit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <set>

#include "common/error.h"
#include "tests/cli/training_runs.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using Flags = std::map<std::string, std::string>;

class AgentRl : public ::testing::Test {
 protected:
  AgentRl() { WriteTinyModel(folder_.path() / "tiny"); }

  std::vector<std::string> Arguments(const std::string& name, const Flags& more) const {
    Flags flags = {{"--model_dir", "tiny"},    {"--name", name},        {"--environments", "4"},
                   {"--steps", "8"},           {"--iterations", "8"},   {"--updates", "3"},
                   {"--batch", "8"},           {"--lr", "1e-3"},        {"--eval_episodes", "8"},
                   {"--eval_every", "4"},      {"--save_every", "2"},   {"--model_threads", "1"},
                   {"--max_new_tokens", "4"},  {"--value_width", "16"}, {"--task", "echo"},
                   {"--lr_schedule", "linear"}};
    for (const auto& [flag, value] : more) flags[flag] = value;
    std::vector<std::string> arguments;
    for (const auto& [flag, value] : flags) arguments.insert(arguments.end(), {flag, value});
    return arguments;
  }
  Outcome Learn(const std::string& name, const Flags& more) const {
    return RunProgram("agent_rl", Arguments(name, more), folder_.path());
  }
  fs::path Result(const std::string& name) const { return folder_.path() / "rl_result" / name; }

  // What a run leaves, without times.
  std::string Left(const std::string& name) const {
    const fs::path model = Result(name) / "model/model.safetensors";
    const fs::path last = Result(name) / "checkpoints/step-00000008/weights.safetensors";
    std::string text = Sha256(ReadFile(fs::exists(model) ? model : last)) + "\n" +
                       Sha256(ReadFile(Result(name) / "transitions.bin")) + "\n";
    for (auto line : ReadRows(Result(name) / "metrics.jsonl")) {
      line.erase("speed");
      text += line.dump() + "\n";
    }
    return text;
  }
  void ExpectCheckpoints(const std::string& name, const std::set<std::string>& expected) const {
    std::set<std::string> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(Result(name) / "checkpoints", none)) {
      found.insert(entry.path().filename().string());
    }
    EXPECT_EQ(found, expected) << name;
  }
  // The tokenizer of the bundled model, and a small shape for random weights.
  void WriteBundledShape(const std::string& name) const {
    const fs::path bundled = AGENTR_SOURCE_DIR "/models/bundled";
    auto config = nlohmann::ordered_json::parse(ReadFile(bundled / "config.json"));
    config["hidden_size"] = 64;
    config["intermediate_size"] = 64;
    config["num_hidden_layers"] = 1;
    WriteFileAtomically(folder_.path() / name / "config.json", config.dump());
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
      WriteFileAtomically(folder_.path() / name / file, ReadFile(bundled / file));
    }
  }
  size_t Lines(const std::string& name) const {
    const fs::path path = Result(name) / "metrics.jsonl";
    return fs::exists(path) ? std::ranges::count(ReadFile(path), '\n') : 0;
  }

  // A run that is killed several times ends in the bytes of one that is not.
  void ExpectSameAfterKills(const std::string& name, const Flags& flags) {
    const Outcome whole = Learn(name, flags);
    ASSERT_EQ(whole.exit, 0) << whole.err;
    const std::string killed = name + "-killed";
    KillAgainAndAgain(
        "agent_rl", Arguments(killed, flags), folder_.path(), /*times=*/5, /*most_ms=*/40,
        [&] { return Lines(killed); }, Result(killed));
    const Outcome last = Learn(killed, flags);
    ASSERT_EQ(last.exit, 0) << last.err;
    EXPECT_EQ(Left(killed), Left(name));
  }

  ScratchFolder folder_;
};

TEST_F(AgentRl, CloningKilledAtAnyMomentEndsInTheSameBytes) {
  ExpectSameAfterKills("bc", {{"--algorithm", "bc"}, {"--player", "random"}});
}
TEST_F(AgentRl, FilteredCloningOfItselfToo) {
  ExpectSameAfterKills("fbc", {{"--algorithm", "filtered_bc"}, {"--player", "policy"}});
}
TEST_F(AgentRl, PpoToo) {
  ExpectSameAfterKills("ppo", {{"--algorithm", "ppo"}, {"--task", "echo_listed"}});
  ExpectSameAfterKills("drrn", {{"--algorithm", "drrn"}, {"--task", "echo_listed"}});
}

// The memory of the agents and the running averages of the norms go on as well.
TEST_F(AgentRl, SymbolicPpoToo) {
  ExpectSameAfterKills("symbolic", {{"--algorithm", "symbolic_ppo"},
                                    {"--task", "babyai"},
                                    {"--model_dir", ""},
                                    {"--recurrence", "4"}});
}

TEST_F(AgentRl, ArcherOnlineAndOfflineToo) {
  const Flags small = {{"--critic_updates", "3"}, {"--critic_width", "8"}, {"--critic_lr", "1e-3"}};
  Flags online = small, offline = small;
  online["--algorithm"] = "archer";
  online["--token_baseline"] = "1";
  ExpectSameAfterKills("archer", online);
  offline["--algorithm"] = "offline_archer";
  offline["--player"] = "random";
  ExpectSameAfterKills("offline", offline);
}

// The bundled model on three train tasks of TextCraft, some of which it solves sometimes.
Flags PlayingGrpo(const fs::path& folder) {
  WriteFileAtomically(folder / "ids", "[32, 33, 40]");
  return {{"--algorithm", "grpo"},    {"--task", "textcraft"},
          {"--model_dir", "bundled"}, {"--split", "ids"},
          {"--groups", "2"},          {"--attempts", "4"},
          {"--draws", "2"},           {"--max_steps", "6"},
          {"--max_new_tokens", "64"}, {"--iterations", "3"},
          {"--updates", "2"},         {"--lr", "1e-5"},
          {"--eval_every", "2"},      {"--eval_episodes", "2"},
          {"--save_every", "1"},      {"--lr_schedule", "constant"}};
}

// The episodes are drawn and played again: no thread's time decides what is in them.
TEST_F(AgentRl, GrpoThatPlaysTasksToo) {
  ExpectSameAfterKills("grpo", PlayingGrpo(folder_.path()));
}

TEST_F(AgentRl, GrpoPlaysGroupsAndLearnsFromThoseWithADifference) {
  Flags flags = PlayingGrpo(folder_.path());
  flags["--updates"] = "1";
  flags["--lr"] = "1e-4";  // so that weights that do not come to play would show
  flags["--eval_greedy"] = "1";
  const Outcome outcome = Learn("grpo", flags);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  int evaluations = 0, updates = 0;
  for (const auto& line : ReadRows(Result("grpo") / "metrics.jsonl")) {
    if (line.contains("evaluation")) {
      ++evaluations;
      EXPECT_EQ(line["evaluation"]["episodes"], 2);
      continue;
    }
    const auto &play = line["play"], &train = line["train"];
    EXPECT_EQ(play["episodes"].get<int>() % 4, 0);
    EXPECT_EQ(play["episodes"], 4 * play["groups"].get<int>());
    EXPECT_GE(play["groups"], 2);
    EXPECT_LE(play["groups"], 3);
    for (const char* key : {"return", "success", "kept", "refused", "unreadable", "cut"}) {
      EXPECT_GE(play[key], 0) << key;
      EXPECT_LE(play[key], 1) << key;
    }
    EXPECT_GT(play["entropy"], 0);
    EXPECT_GT(play["response_tokens"], 1);
    EXPECT_GT(line["speed"]["tokens_per_s_playing"], 0);
    EXPECT_GT(line["speed"]["environment_steps_per_s"], 0);
    if (train["updates"] == 0) continue;
    ++updates;
    // What the engine sampled is what the network scores: the only step of an iteration is taken at
    // the policy that played.
    EXPECT_LT(train["kl"], 1e-6);
    EXPECT_EQ(train["clipped"], 0);
  }
  EXPECT_EQ(evaluations, 3);  // before, after two iterations, and at the end
  EXPECT_GT(updates, 0);
  EXPECT_TRUE(fs::exists(Result("grpo") / "model/model.safetensors"));
}

// A signal while it plays: what is half played is given up, and played again.
TEST_F(AgentRl, GrpoThatIsStoppedWhileItPlaysEndsInTheSameBytes) {
  Flags flags = PlayingGrpo(folder_.path());
  flags["--save_every"] = "100";  // only because of the signal
  const Outcome whole = Learn("whole", flags);
  ASSERT_EQ(whole.exit, 0) << whole.err;
  Program program("agent_rl", Arguments("stopped", flags), folder_.path());
  program.WaitUntil([&] { return Lines("stopped") >= 2; });
  program.Signal(SIGINT);
  const Outcome stopped = program.Wait();
  EXPECT_EQ(stopped.exit, static_cast<int>(ExitCode::kInterrupted)) << stopped.err;
  const Outcome rest = Learn("stopped", flags);
  ASSERT_EQ(rest.exit, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("continuing from"));
  EXPECT_EQ(Left("stopped"), Left("whole"));
}

TEST_F(AgentRl, GrpoAtAnotherTemperatureIsWarnedAbout) {
  Flags flags = PlayingGrpo(folder_.path());
  flags["--iterations"] = "1";
  flags["--eval_episodes"] = "0";
  flags["--temperature"] = "0.9";
  const Outcome outcome = Learn("grpo", flags);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Cure: --temperature 1"));
}

// Nothing is learned, so that greedy evaluations, which are of the same games, are all the same.
TEST_F(AgentRl, DrrnIsEvaluatedGreedilyIfThatIsAskedFor) {
  const Outcome outcome = Learn("a", {{"--algorithm", "drrn"},
                                      {"--task", "echo_listed"},
                                      {"--iterations", "4"},
                                      {"--eval_every", "1"},
                                      {"--eval_greedy", "1"},
                                      {"--lr", "0"}});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  std::set<std::string> results;
  for (const auto& line : ReadRows(Result("a") / "metrics.jsonl")) {
    if (line.contains("evaluation")) results.insert(line["evaluation"].dump());
  }
  EXPECT_EQ(results.size(), 1U);
}

// The rate is 0 in the first iteration, and then destroys the policy: the third one plays with it.
// The run names it, and the weights from before are a model again.
TEST_F(AgentRl, GrpoThatCollapsesKeepsTheModelFromBefore) {
  Flags flags = PlayingGrpo(folder_.path());
  flags["--lr"] = "3e-2";
  flags["--updates"] = "1";
  flags["--warmup"] = "0.1";
  flags["--draws"] = "1";
  flags["--max_new_tokens"] = "40";
  flags["--eval_episodes"] = "0";
  flags["--iterations"] = "4";
  const Outcome outcome = Learn("grpo", flags);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("from before the first sign, is kept, and its model is in"));
  EXPECT_THAT(outcome.err, HasSubstr("Usual cure: a lower --lr"));
  EXPECT_TRUE(fs::exists(Result("grpo") / "good_model/model.safetensors"));
  ExpectCheckpoints("grpo", {"step-00000001", "step-00000003", "step-00000004"});
}

TEST_F(AgentRl, WhatGrpoCannotPlayIsRefused) {
  const Flags good = PlayingGrpo(folder_.path());
  const auto refused = [&](const std::string& flag, const std::string& value,
                           const std::string& because) {
    Flags flags = good;
    flags[flag] = value;
    const Outcome outcome = Learn("a", flags);
    EXPECT_EQ(outcome.exit, 2) << flag;
    EXPECT_THAT(outcome.err, HasSubstr(because));
  };
  refused("--task", "echo", "echo");  // a world, but no kind of task
  refused("--processes", "2", "plays in one process");
  refused("--max_length", "64", "leaves no room for a prompt");
  WriteFileAtomically(folder_.path() / "test_ids", "[32, 0]");
  refused("--split", "test_ids", "task 0 is a test task");
  refused("--algorithm", "ppo", "--task textcraft: --algorithm ppo knows the worlds babyai");
}

TEST_F(AgentRl, ARunWithOneRateCanBeProlonged) {
  Flags flags = {{"--algorithm", "ppo"},
                 {"--task", "echo_listed"},
                 {"--lr_schedule", "constant"},
                 {"--warmup", "0"}};
  ASSERT_EQ(Learn("whole", flags).exit, 0);
  flags["--iterations"] = "4";
  ASSERT_EQ(Learn("prolonged", flags).exit, 0);
  flags["--iterations"] = "8";
  const Outcome more = Learn("prolonged", flags);
  ASSERT_EQ(more.exit, 0) << more.err;
  EXPECT_EQ(Left("prolonged"), Left("whole"));
  // Otherwise its rates would be those of no run.
  flags["--lr_schedule"] = "linear";
  flags["--iterations"] = "4";
  ASSERT_EQ(Learn("falling", flags).exit, 0);
  flags["--iterations"] = "8";
  EXPECT_THAT(Learn("falling", flags).err, HasSubstr("--iterations differs"));
}

// The same episodes and, except for the rounding of sums, the same numbers as in one process.
TEST_F(AgentRl, SeveralProcessesLearnAsOne) {
  const Flags critic = {
      {"--critic_updates", "3"}, {"--critic_width", "8"}, {"--critic_lr", "1e-3"}};
  std::map<std::string, Flags> all;
  all["ppo"] = all["drrn"] = {{"--task", "echo_listed"}};
  all["filtered_bc"] = {{"--player", "policy"}};
  all["archer"] = all["chai"] = critic;
  all["archer"]["--token_baseline"] = "1";
  for (auto& [algorithm, flags] : all) {
    flags["--algorithm"] = algorithm;
    flags["--iterations"] = "3";
    const Outcome one = Learn(algorithm, flags);
    ASSERT_EQ(one.exit, 0) << one.err;
    flags["--processes"] = "3";
    const std::string name = algorithm + "-3";
    const Outcome many = Learn(name, flags);
    ASSERT_EQ(many.exit, 0) << many.err;
    EXPECT_FALSE(fs::exists(Result(name) / "ranks"));
    const auto alone = ReadRows(Result(algorithm) / "metrics.jsonl");
    const auto shared = ReadRows(Result(name) / "metrics.jsonl");
    ASSERT_EQ(alone.size(), shared.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      const auto a = alone[i].flatten(), b = shared[i].flatten();
      ASSERT_EQ(a.size(), b.size());
      for (const auto& [key, value] : a.items()) {
        if (key.starts_with("/speed") || key.ends_with("/distinct_tokens")) continue;
        const double expected = value.get<double>();
        EXPECT_NEAR(b.at(key).get<double>(), expected, 1e-3 * std::max(1.0, std::abs(expected)))
            << algorithm << ", line " << i << key;
      }
    }
  }
}

TEST_F(AgentRl, AJobOfProcessesKilledAtAnyMomentEndsInTheSameBytes) {
  ExpectSameAfterKills("ppo",
                       {{"--algorithm", "ppo"}, {"--task", "echo_listed"}, {"--processes", "2"}});
}

// The rate is 0 in the first iteration, whose checkpoint is good, and then much too high.
TEST_F(AgentRl, ARunThatDivergesEndsAndKeepsItsGoodCheckpoint) {
  const Flags common = {{"--lr", "1e30"},        {"--lr_schedule", "constant"},
                        {"--warmup", "0.5"},     {"--save_every", "1"},
                        {"--keep", "1"},         {"--updates", "1"},
                        {"--critic_lr", "1e-3"}, {"--critic_updates", "2"},
                        {"--critic_width", "8"}, {"--eval_every", "0"}};
  std::map<std::string, Flags> all;
  all["ppo"] = all["drrn"] = {{"--task", "echo_listed"}};
  all["bc"] = all["offline_archer"] = {{"--player", "random"}};
  all["filtered_bc"] = all["archer"] = {{"--player", "policy"}};
  all["symbolic_ppo"] = {{"--task", "babyai"}, {"--model_dir", ""}, {"--recurrence", "4"}};
  for (auto& [algorithm, flags] : all) {
    flags.insert(common.begin(), common.end());
    flags["--algorithm"] = algorithm;
    const int runs_in_a_row = algorithm == "ppo" ? 2 : 1;  // the second one goes on from it
    for (int i = 0; i < runs_in_a_row; ++i) {
      const Outcome outcome = Learn(algorithm, flags);
      EXPECT_EQ(outcome.exit, 1) << algorithm << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("the training has diverged: ")) << algorithm;
      EXPECT_THAT(outcome.err, HasSubstr("a lower --lr, with another --name")) << algorithm;
      EXPECT_EQ(outcome.err.find("continuing from") != std::string::npos, i > 0) << algorithm;
      ExpectCheckpoints(algorithm, {"step-00000001"});
      EXPECT_FALSE(fs::exists(Result(algorithm) / "model")) << algorithm;
      const auto runs = nlohmann::json::parse(ReadFile(Result(algorithm) / "run.json"));
      EXPECT_TRUE(runs["runs"].back().contains("diverged")) << algorithm;
      EXPECT_EQ(runs["runs"].back()["options"]["algorithm"], algorithm);
    }
  }
}

TEST_F(AgentRl, ACriticThatDivergesEndsTheRunWithItsOwnCure) {
  for (const std::string algorithm : {"archer", "offline_archer", "chai"}) {
    const Outcome outcome =
        Learn(algorithm, {{"--algorithm", algorithm},
                          {"--player", algorithm == "offline_archer" ? "random" : "policy"},
                          {"--critic_lr", "1e30"},
                          {"--critic_updates", "3"},
                          {"--critic_width", "8"},
                          {"--save_every", "1"}});
    EXPECT_EQ(outcome.exit, 1) << algorithm << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("a lower --critic_lr")) << algorithm;
    ExpectCheckpoints(algorithm, {});
  }
}

TEST_F(AgentRl, WhatCannotWorkIsRefused) {
  for (const auto& [flag, value] : {std::pair("--adam_beta1", "1"),
                                    {"--lr", "1e38"},
                                    {"--critic_lr", "1e38"},
                                    {"--reward_scale", "1e300"},
                                    {"--value_coefficient", "1e300"},
                                    {"--entropy_coefficient", "-1e300"}}) {
    const Outcome outcome = Learn("a", {{"--algorithm", "bc"}, {flag, value}});
    EXPECT_EQ(outcome.exit, 2) << flag;
    EXPECT_THAT(outcome.err, HasSubstr(flag));
  }
  const fs::path weights = folder_.path() / "tiny/model.safetensors";
  std::string bytes = ReadFile(weights);
  bytes.replace(bytes.size() - 4, 4, std::string("\x00\x00\xC0\x7F", 4));  // a NaN
  WriteFileAtomically(weights, bytes);
  const Outcome outcome = Learn("a", {{"--algorithm", "bc"}, {"--player", "random"}});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, HasSubstr("are not finite"));
}

TEST_F(AgentRl, AScriptedPlayerNeedsNoModel) {
  const Flags without = {{"--algorithm", "play"}, {"--model_dir", ""}, {"--from_scratch", "0"}};
  Flags play = without;
  play["--player"] = "random";
  const Outcome outcome = Learn("scripted", play);
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("iterations to go, results in"));
  EXPECT_GT(fs::file_size(Result("scripted") / "transitions.bin"), 100U);
  play["--player"] = "policy";
  EXPECT_THAT(Learn("policy", play).err, HasSubstr("there is no model"));
}

// Random weights end no action within four tokens.
TEST_F(AgentRl, APolicyThatNobodyCanReadIsWarnedAbout) {
  const Outcome outcome =
      Learn("a", {{"--algorithm", "filtered_bc"}, {"--iterations", "2"}, {"--lr", "0"}});
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex(
                               "iteration 1: [0-9]+ % of the policy's actions cannot be read"));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("iteration 2:"))) << "once";
}

// A later checkpoint is none from before the signs, also for a run that goes on.
TEST_F(AgentRl, ACollapseFromTheStartHasNoGoodCheckpoint) {
  Flags flags = {{"--algorithm", "filtered_bc"},
                 {"--iterations", "4"},
                 {"--lr", "0"},
                 {"--lr_schedule", "constant"},
                 {"--warmup", "0"},
                 {"--save_every", "1"},
                 {"--keep", "1"}};
  const Outcome outcome = Learn("a", flags);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("there is no checkpoint from before the first sign"));
  ExpectCheckpoints("a", {"step-00000004"});
  flags["--iterations"] = "6";
  const Outcome more = Learn("a", flags);
  ASSERT_EQ(more.exit, 0) << more.err;
  EXPECT_THAT(more.err, ::testing::Not(HasSubstr("cannot be read"))) << "it was said";
  ExpectCheckpoints("a", {"step-00000006"});
}

// A file of another tokenizer has the same kinds of numbers, which mean nothing.
TEST_F(AgentRl, TransitionsOfAnotherTokenizerAreRefused) {
  const Flags play = {{"--algorithm", "play"}, {"--player", "random"}};
  ASSERT_EQ(Learn("data", play).exit, 0);
  WriteBundledShape("larger");
  const fs::path file = Result("data") / "transitions.bin";
  const std::string recorded = ReadFile(file);
  ASSERT_EQ(recorded.substr(0, 8), "agentrl2");
  const std::string earlier = "agentrl1" + recorded.substr(8 + 64 + 4);  // an earlier release
  for (const std::string algorithm : {"bc", "offline_archer"}) {
    Flags learn = {{"--algorithm", algorithm},
                   {"--transitions", "rl_result/data/transitions"},
                   {"--critic_width", "8"},
                   {"--iterations", "1"},
                   {"--eval_episodes", "0"}};
    WriteFileAtomically(file, earlier);
    const Outcome same = Learn(algorithm, learn);
    EXPECT_EQ(same.exit, 0) << same.err;
    EXPECT_THAT(same.err, HasSubstr("its actions read the same with that of --model_dir"));
    learn["--model_dir"] = "larger";
    learn["--from_scratch"] = "1";
    for (const std::string& bytes : {recorded, earlier}) {
      WriteFileAtomically(file, bytes);
      const Outcome other = Learn(algorithm + "-other", learn);
      EXPECT_EQ(other.exit, 2) << other.err;
      EXPECT_THAT(other.err, HasSubstr("with another tokenizer than that of --model_dir"));
    }
  }
}

// symbolic_ppo records neither prompts nor tokens. An earlier release ended by a signal here.
TEST_F(AgentRl, TransitionsWithoutTokensAreRefused) {
  ASSERT_EQ(Learn("data", {{"--algorithm", "symbolic_ppo"},
                           {"--task", "babyai"},
                           {"--model_dir", ""},
                           {"--recurrence", "4"},
                           {"--iterations", "1"},
                           {"--eval_episodes", "0"}})
                .exit,
            0);
  const fs::path file = Result("data") / "transitions.bin";
  const std::string recorded = ReadFile(file);
  const Flags learn = {{"--algorithm", "offline_archer"},
                       {"--transitions", "rl_result/data/transitions"}};
  const Outcome now = Learn("a", learn);
  EXPECT_EQ(now.exit, 2);
  EXPECT_THAT(now.err, HasSubstr("without a language model"));
  WriteFileAtomically(file, "agentrl1" + recorded.substr(8 + 64 + 4));
  const Outcome earlier = Learn("a", learn);
  EXPECT_EQ(earlier.exit, 3);
  EXPECT_THAT(earlier.err, HasSubstr("transition 0 has no tokens in its prompt"));
}

TEST_F(AgentRl, RecordedTransitionsAreReadOnlyAndMustStayTheSame) {
  Flags play = {{"--algorithm", "play"},
                {"--player", "random"},
                {"--lr_schedule", "constant"},
                {"--warmup", "0"}};
  ASSERT_EQ(Learn("data", play).exit, 0);
  const Flags learn = {{"--algorithm", "bc"}, {"--transitions", "rl_result/data/transitions.bin"}};
  const std::string recorded = ReadFile(Result("data") / "transitions.bin");
  const Outcome first = Learn("copy", learn);
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(ReadFile(Result("data") / "transitions.bin"), recorded);
  play["--iterations"] = "9";
  ASSERT_EQ(Learn("data", play).exit, 0);
  const Outcome more = Learn("copy", learn);
  EXPECT_EQ(more.exit, 2);
  EXPECT_THAT(more.err, HasSubstr("has learned from other"));
  const Outcome none = Learn("b", {{"--algorithm", "bc"}, {"--transitions", "no/transitions"}});
  EXPECT_EQ(none.exit, 3);
  EXPECT_THAT(none.err, HasSubstr("no/transitions.bin"));
  EXPECT_FALSE(fs::exists(folder_.path() / "no"));
}

TEST_F(AgentRl, LostTransitionsAreSaid) {
  const Flags flags = {{"--algorithm", "bc"}, {"--player", "random"}};
  ASSERT_EQ(Learn("a", flags).exit, 0);
  std::string bytes = ReadFile(Result("a") / "transitions.bin");
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  WriteFileAtomically(Result("a") / "transitions.bin", bytes);
  const Outcome outcome = Learn("a", flags);
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("only [0-9]+ of the 32 transitions"));
  EXPECT_EQ(ReadFile(Result("a") / "transitions.bin"), bytes) << "what is left stays";
}

TEST_F(AgentRl, WithoutAnEpisodeThereIsNothingToLearn) {
  const Outcome none = Learn(
      "a",
      {{"--algorithm", "bc"}, {"--player", "random"}, {"--environments", "1"}, {"--steps", "1"}});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("nothing to learn from: of 0 finished episodes"));
  const Outcome policy = Learn("b", {{"--algorithm", "offline_archer"}});
  EXPECT_EQ(policy.exit, 2);
  EXPECT_THAT(policy.err, HasSubstr("--player random or expert"));
}

TEST_F(AgentRl, WhatDoesNotFitIsSaid) {
  const Outcome written = Learn("a", {{"--algorithm", "ppo"}});
  EXPECT_EQ(written.exit, 2);
  EXPECT_THAT(written.err, HasSubstr("listed actions"));
  const Outcome none = RunProgram("agent_rl", {"--algorithm", "bc"}, folder_.path());
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("--model_dir"));
  const auto refused = [&](Flags flags, const char* because) {
    flags["--algorithm"] = "symbolic_ppo";
    flags["--task"] = "babyai";
    const Outcome outcome = Learn("s", flags);
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_THAT(outcome.err, HasSubstr(because));
  };
  refused({}, "leave out --model_dir");
  refused({{"--model_dir", ""}, {"--processes", "2"}}, "leave out --processes");
  refused({{"--model_dir", ""}, {"--recurrence", "5"}}, "multiple of --recurrence");
  const Flags flags = {{"--algorithm", "bc"}, {"--player", "random"}, {"--iterations", "2"}};
  ASSERT_EQ(Learn("b", flags).exit, 0);
  Flags others = flags;
  others["--seed"] = "1";
  const Outcome other = Learn("b", others);
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("--seed"));
}

}  // namespace
}  // namespace agentr
