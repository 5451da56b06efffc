// agent_train as a process: it learns, exports, and goes on after kills to the same bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <numeric>
#include <thread>

#include "clients/http/http_client.h"
#include "lm/found_model.h"
#include "lm/model_folder.h"
#include "lm/weights/quantised.h"
#include "lm/weights/safetensors.h"
#include "servers/http/http_service.h"
#include "tests/cli/training_runs.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentTrain : public TrainingRuns {};

TEST_F(AgentTrain, LearnsAndExportsAModelThatLoads) {
  const Outcome outcome = Train("a");
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const auto lines = ReadRows(Result("a") / "metrics.jsonl");
  std::vector<double> held_out;
  int64_t step = 0;
  for (const auto& line : lines) {
    if (line.contains("held_out")) {
      held_out.push_back(line["held_out"]["loss"]);
    } else {
      EXPECT_EQ(line["step"], ++step);
      EXPECT_GT(line["train"]["tokens"], 0);
      EXPECT_GT(line["row_tokens"], line["distinct_tokens"]);
    }
  }
  ASSERT_GE(held_out.size(), 3u);
  EXPECT_LT(held_out.back(), 0.7 * held_out.front());
  EXPECT_EQ(lines[0]["step"], 0);  // the held-out loss before any step
  const LoadedModel model = LoadModel(Result("a") / "model", "", {});
  EXPECT_EQ(ReadFile(Result("a") / "model/tokenizer.json"),
            ReadFile(folder_.path() / "tiny/tokenizer.json"));
  EXPECT_THAT(ReadFile(Result("a") / "model/chat_template_training.jinja"),
              HasSubstr("{%- generation %}"));

  const Outcome again = Train("a");  // there is nothing left to do
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(ReadRows(Result("a") / "metrics.jsonl").size(), lines.size());
  const Outcome other = Train("a", {{"--weight_decay", "0.1"}});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("AdamW"));
}

// OpenMP says at every start of a program what it was told; the second start has the short wait.
TEST_F(AgentTrain, WaitsBrieflyForWorkUnlessToldOtherwise) {
  const auto spins = [&](const std::map<std::string, std::string>& more) {
    std::map<std::string, std::string> env = {{"OMP_DISPLAY_ENV", "verbose"}};
    env.insert(more.begin(), more.end());
    const std::string said = RunProgram("agent_train", {}, folder_.path(), env).err;
    std::vector<std::string> found;
    const std::string name = "GOMP_SPINCOUNT = '";
    for (size_t at = said.find(name); at != said.npos; at = said.find(name, at + 1)) {
      const size_t from = at + name.size();
      found.push_back(said.substr(from, said.find('\'', from) - from));
    }
    return found;
  };
  const auto chosen = spins({{"GOMP_SPINCOUNT", "77"}});
  if (chosen.empty()) GTEST_SKIP() << "not GNU OpenMP";
  EXPECT_THAT(chosen, ElementsAre("77"));
  unsetenv("OMP_WAIT_POLICY");  // ctest's preset
  EXPECT_THAT(spins({}), ElementsAre(Not("1000"), "1000"));
}

// A GGUF file has its own tokenizer, whose first export is a folder with which it goes on.
TEST_F(AgentTrain, StartsFromAGgufFileWithAllWeightsOrAdapters) {
  const std::string file = AGENTR_SOURCE_DIR "/tests/golden/gguf/tiny_llama3.gguf";
  for (const char* rank : {"0", "4"}) {
    const std::string name = std::string("gguf") + rank;
    const Outcome outcome = Train(name, {{"--model_dir", file},
                                         {"--lora_rank", rank},
                                         {"--merge_adapters", "1"},
                                         {"--export_gguf", "f16"},
                                         {"--max_steps", "4"}});
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                HasSubstr("8 Q8_0 tensors, dequantised to float32 for the training, which "
                          "computes in bfloat16 (--dtype); BF16 is exported"));
    const LoadedModel model = LoadModel(Result(name) / "model", "", {});
    EXPECT_EQ(TokenizerHash(Result(name) / "model"), TokenizerHash(file));
    const LoadedModel again = LoadModel(Result(name) / "model.gguf", "", {});
    const std::string text = "Action: craft 2 oak planks";
    EXPECT_EQ(again.tokenizer->Encode(text), model.tokenizer->Encode(text));
  }
  const Outcome adapter =
      Train("adapter", {{"--model_dir", file}, {"--lora_rank", "4"}, {"--max_steps", "2"}});
  ASSERT_EQ(adapter.exit, 0) << adapter.err;
  EXPECT_THAT(ReadFile(Result("adapter") / "model/adapter_config.json"), HasSubstr(file));
}

// What is trained with a rank is an adapter of its start model, and that again is a start model.
TEST_F(AgentTrain, AnAdapterIsAModelLikeTheMergedOne) {
  const std::map<std::string, std::string> lora = {{"--lora_rank", "4"}, {"--max_steps", "3"}};
  ASSERT_EQ(Train("adapter", lora).exit, 0);
  auto merging = lora;
  merging["--merge_adapters"] = "1";
  ASSERT_EQ(Train("merged", merging).exit, 0);
  const fs::path adapter = Result("adapter") / "model";
  // The base is named as it was given, from the folder in which the program ran.
  const FoundModel found = FindModel(adapter, (folder_.path() / "tiny").string());
  const auto of_adapter = OpenWeights(found);
  const WeightFiles of_merged(Result("merged") / "model");
  double apart = 0, change = 0;
  const auto values = [](const Weight& weight) {
    std::vector<float> all(weight.data.size() / BlockOf(weight.type).bytes);
    ReadWeight(weight, 0, std::ssize(all), all.data());
    return all;
  };
  const WeightFiles start(folder_.path() / "tiny");
  for (const auto& [name, weight] : of_merged.weights()) {
    const auto wanted = values(weight), got = values(of_adapter->weights().at(name)),
               before = values(start.weights().at(name));
    for (size_t i = 0; i < wanted.size(); ++i) {
      apart = std::max(apart, std::abs(double{wanted[i]} - got[i]));
      change = std::max(change, std::abs(double{wanted[i]} - before[i]));
    }
  }
  EXPECT_GT(change, 1e-3);
  EXPECT_LT(apart, 1e-6);

  const Outcome again = Train("again", {{"--model_dir", adapter.string()}, {"--max_steps", "1"}});
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_TRUE(fs::exists(Result("again") / "model/model.safetensors"));
  const Outcome twice = Train("twice", {{"--model_dir", adapter.string()}, {"--lora_rank", "2"}});
  EXPECT_EQ(twice.exit, 2);
  EXPECT_THAT(twice.err, HasSubstr("another adapter merged"));
}

// A model that is large beside the program; what it takes at most is what it takes, within a
// factor.
TEST_F(AgentTrain, SaysWhatItsMemoryIsForBeforeTheFirstStep) {
  ModelConfig config = SmallLlama();
  config.vocab_size = 4096;
  config.hidden_size = 256;
  config.intermediate_size = 768;
  config.num_layers = 4;
  config.head_dim = 32;
  WriteRandomModel(folder_.path() / "larger", config, 1);
  for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
    fs::copy_file(folder_.path() / "tiny" / file, folder_.path() / "larger" / file);
  }
  for (const bool checkpoint : {false, true}) {
    const std::string name = checkpoint ? "checkpoint" : "kept";
    const Outcome outcome = Train(name, {{"--model_dir", "larger"},
                                         {"--max_steps", "1"},
                                         {"--batch_rows", "30"},
                                         {"--batch_tokens", "1500"},
                                         {"--held_out", "0"},
                                         {"--checkpoint_activations", checkpoint ? "1" : "0"}});
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    for (const char* part :
         {"MiB  the program itself", "MiB  weights", "MiB  gradients", "MiB  optimiser state",
          "MiB  activations, at most", "MiB  rows, at most", "MiB  together, of each process"}) {
      EXPECT_THAT(outcome.err, HasSubstr(part));
    }
    const auto run = nlohmann::json::parse(ReadFile(Result(name) / "run.json"))["runs"][0];
    const auto& parts = run["memory_parts_gib"];
    const double weights = parts["weights"], program = parts["program"];
    EXPECT_EQ(run["options"]["batch_rows"], 30);
    EXPECT_EQ(parts["gradients"], weights);
    EXPECT_EQ(parts["optimizer"], 2 * weights);
    const double said = parts["sum"].get<double>() - program;
    const double took = run["peak_memory_gib"].get<double>() - program;
    EXPECT_GT(said, took / 1.6) << parts.dump() << " of " << run["peak_memory_gib"];
    EXPECT_LT(said, took * 1.6) << parts.dump() << " of " << run["peak_memory_gib"];
  }
}

TEST_F(AgentTrain, KilledAtAnyMomentItEndsInTheSameBytes) {
  const std::map<std::string, std::string> none,
      adapters = {{"--lora_rank", "4"}, {"--lora_dropout", "0.1"}, {"--merge_adapters", "1"}};
  for (const auto& options : {none, adapters}) {
    const std::string suffix = options.empty() ? "" : "-lora";
    ASSERT_EQ(Train("whole" + suffix, options).exit, 0);
    // At any moment of the steps and checkpoints.
    KillAgainAndAgain(
        "agent_train", Arguments("killed" + suffix, options), folder_.path(), /*times=*/10,
        /*most_ms=*/15, [&] { return Lines("killed" + suffix); }, Result("killed" + suffix));
    const Outcome last = Train("killed" + suffix, options);
    ASSERT_EQ(last.exit, 0) << last.err;
    EXPECT_EQ(Left("killed" + suffix), Left("whole" + suffix));
  }
}

TEST_F(AgentTrain, AnInterruptionSavesAndADamagedCheckpointIsRefused) {
  Program program("agent_train", Arguments("a", {{"--save_every", "0"}}), folder_.path());
  for (int i = 0; i < 6000 && !fs::exists(Result("a") / "metrics.jsonl"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait().exit, 130);
  const fs::path checkpoint = *fs::directory_iterator(Result("a") / "checkpoints");
  std::string bytes = ReadFile(checkpoint / "weights.safetensors");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteFileAtomically(checkpoint / "weights.safetensors", bytes);
  const Outcome outcome = Train("a");
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, HasSubstr((checkpoint.filename() / "weights.safetensors").string()));
}

TEST_F(AgentTrain, AGpuThatIsNotThereIsRefused) {
  const Outcome outcome = Train("a", {{"--device", "cuda:99"}});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--device cuda:99"));
  EXPECT_FALSE(fs::exists(Result("a")));
}

TEST_F(AgentTrain, ItsProgressCanBeReadWhileItRuns) {
  // The port of a server that has ended is free.
  const int port = [] {
    HttpService service({.port = 0});
    service.Start();
    return service.port();
  }();
  Program program("agent_train",
                  Arguments("a", {{"--metrics_port", std::to_string(port)}, {"--epochs", "1000"}}),
                  folder_.path());
  HttpClient client(fmt::format("http://127.0.0.1:{}", port), HttpOptions(),
                    std::make_shared<CallStats>());
  const auto steps = ::testing::ContainsRegex("\nagentr_run_done_total [1-9]");
  std::string text;
  while (program.Running() && !::testing::Matches(steps)(text)) {
    if (const auto reply = client.Get("/metrics")) text = reply->body;
  }
  EXPECT_THAT(text,
              AllOf(HasSubstr("# HELP agentr_run_done_total Finished optimiser steps.\n"), steps));
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait().exit, 130);
}

// The rate is 0 in the first step, whose checkpoint is good, and then much too high.
TEST_F(AgentTrain, ARunThatDivergesEndsAndKeepsItsGoodCheckpoint) {
  const std::map<std::string, std::string> flags = {
      {"--lr", "1e30"}, {"--lr_schedule", "constant"}, {"--warmup", "0.5"},
      {"--keep", "1"},  {"--save_every", "1"},         {"--eval_every", "0"}};
  const fs::path checkpoint = Result("a") / "checkpoints/step-00000001";
  std::string good;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = Train("a", flags);
    EXPECT_EQ(outcome.exit, 1) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("the training has diverged: after optimiser step 2"),
                                   HasSubstr("a lower --lr, with another --name")));
    EXPECT_EQ(outcome.err.find("continuing from") != std::string::npos, i > 0);
    ASSERT_TRUE(fs::exists(checkpoint));
    const std::string weights = ReadFile(checkpoint / "weights.safetensors");
    EXPECT_EQ(weights == good, i > 0) << "nothing has replaced it";
    good = weights;
    EXPECT_FALSE(fs::exists(Result("a") / "model"));
    const auto runs = nlohmann::json::parse(ReadFile(Result("a") / "run.json"));
    EXPECT_THAT(runs["runs"].back()["diverged"].get<std::string>(), HasSubstr("optimiser step 2"));
  }
}

// Without a checkpoint in between: the next step finds it, and after the last one the export does.
TEST_F(AgentTrain, NoStepIsTooLateToFindThatItHasDiverged) {
  for (const auto& [steps, said] :
       {std::pair("2", "optimiser step 2, with --lr at 1e+30: the loss is"),
        {"1", "after optimiser step 1 the weights are finite, but"}}) {
    const Outcome outcome = Train(steps, {{"--lr", "1e30"},
                                          {"--lr_schedule", "constant"},
                                          {"--warmup", "0"},
                                          {"--max_steps", steps},
                                          {"--save_every", "0"},
                                          {"--eval_rows", "0"}});
    EXPECT_EQ(outcome.exit, 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(said));
    EXPECT_FALSE(fs::exists(Result(steps) / "model"));
    EXPECT_FALSE(fs::exists(Result(steps) / "checkpoints/step-00000001"));
  }
}

TEST_F(AgentTrain, AHeldOutLossThatIsNotFiniteIsNeverTheBest) {
  const Outcome outcome = Train("a", {{"--lr", "1e12"},
                                      {"--lr_schedule", "constant"},
                                      {"--warmup", "0"},
                                      {"--eval_every", "1"},
                                      {"--export", "best"}});
  EXPECT_EQ(outcome.exit, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("after step 1 the held-out loss is nan"));
  const auto state =
      nlohmann::json::parse(ReadFile(Result("a") / "checkpoints/step-00000000/state.json"));
  EXPECT_GT(state["best_held_out"].get<double>(), 0);
}

TEST_F(AgentTrain, AStartModelThatIsNotFiniteIsNamed) {
  const fs::path weights = folder_.path() / "tiny/model.safetensors";
  std::string bytes = ReadFile(weights);
  bytes.replace(bytes.size() - 4, 4, std::string("\x00\x00\xC0\x7F", 4));  // a NaN
  WriteFileAtomically(weights, bytes);
  const Outcome outcome = Train("a");
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("tiny: 1 of the [0-9]+ values of .* are not "
                                                    "finite"));
  EXPECT_FALSE(fs::exists(Result("a") / "metrics.jsonl"));
}

TEST_F(AgentTrain, AModelThatIsWorseThanGuessingIsWarnedAbout) {
  const Outcome outcome = Train("a", {{"--lr", "1"}, {"--epochs", "1"}});
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              ::testing::ContainsRegex("the held-out loss is [0-9.]+, but 6.56 if every token is "
                                       "equally likely: the model has collapsed"));
}

TEST_F(AgentTrain, ValuesThatCannotWorkAreRefused) {
  for (const auto& [flag, value] : {std::pair("--adam_beta1", "1"),
                                    {"--adam_beta2", "1"},
                                    {"--adam_beta2", "0.99999999"},
                                    {"--adam_epsilon", "0"},
                                    {"--lr", "1e38"},
                                    {"--lr", "inf"}}) {
    const Outcome outcome = Train("a", {{flag, value}});
    EXPECT_EQ(outcome.exit, 2) << flag;
    EXPECT_THAT(outcome.err, HasSubstr(flag));
  }
  const Outcome decay = Train("a", {{"--weight_decay", "500"}});
  EXPECT_EQ(decay.exit, 2);
  EXPECT_THAT(decay.err, HasSubstr("--weight_decay 500 with --lr 0.003"));
}

TEST_F(AgentTrain, TrainsAsManyTokensAsAreAskedFor) {
  ASSERT_EQ(Train("a", {{"--train_tokens", "4000"}, {"--epochs", "1"}}).exit, 0);
  std::vector<int64_t> trained;
  for (const auto& line : ReadRows(Result("a") / "metrics.jsonl")) {
    if (line.contains("train")) trained.push_back(line["train"]["tokens"].get<int64_t>());
  }
  const int64_t all = std::accumulate(trained.begin(), trained.end(), int64_t{0});
  EXPECT_GE(all, 4000);
  EXPECT_LT(all - trained.back(), 4000) << "a step too many";
  EXPECT_GT(trained.size(), 7) << "one epoch has 7 steps, and the tokens decide";
}

TEST_F(AgentTrain, PlaysWithTheWeightsOfTheMoment) {
  std::vector<std::string> arguments =
      Arguments("a", {{"--play_every", "4"}, {"--max_steps", "9"}});
  for (const char* play : {"max=3", "max_steps=2", "max_new_tokens=4"}) {
    arguments.push_back(fmt::format("--play=--{}", play));
  }
  // A killed run may have left episodes of other weights.
  const fs::path old = Result("a") / "plays/step_00000004/left";
  WriteFileAtomically(old, "");
  const Outcome outcome = RunProgram("agent_train", arguments, folder_.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(old));
  std::vector<int64_t> played;
  for (const auto& line : ReadRows(Result("a") / "metrics.jsonl")) {
    if (!line.contains("play")) continue;
    played.push_back(line["step"]);
    EXPECT_EQ(line["play"]["success"], 0);
    EXPECT_TRUE(line["play"].contains("refused_steps"));
  }
  EXPECT_EQ(played, (std::vector<int64_t>{4, 8, 9}));
  std::set<std::string> identities;
  for (const int64_t step : played) {
    const fs::path summary =
        Result("a") / fmt::format("plays/step_{:08}", step) / "textcraft/model_local/summary.json";
    identities.insert(nlohmann::json::parse(ReadFile(summary))["options"]["model_identity"]);
  }
  EXPECT_EQ(identities.size(), 3u);
  // A finished run plays no more.
  const std::string metrics = ReadFile(Result("a") / "metrics.jsonl");
  EXPECT_EQ(RunProgram("agent_train", arguments, folder_.path()).exit, 0);
  EXPECT_EQ(ReadFile(Result("a") / "metrics.jsonl"), metrics);
  const Outcome wrong =
      RunProgram("agent_train", Arguments("b", {{"--play_every", "4"}, {"--play", "--maxx=3"}}),
                 folder_.path());
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--maxx=3"));
}

TEST_F(AgentTrain, ARunGoesOnOnlyWithItsModelAndItsOptions) {
  ASSERT_EQ(Train("a", {{"--epochs", "1"}}).exit, 0);
  const std::string options = ReadFile(Result("a") / "resolved.toml");
  const Outcome rate = Train("a", {{"--epochs", "1"}, {"--adam_beta2", "0.9"}});
  EXPECT_EQ(rate.exit, 2);
  EXPECT_THAT(rate.err, AllOf(HasSubstr("AdamW"), HasSubstr("0.9 0.999"), HasSubstr("0.9 0.9 ")));
  EXPECT_EQ(ReadFile(Result("a") / "resolved.toml"), options) << "those of the run";
  // Another model of the same shape in the same folder.
  WriteTinyModel(folder_.path() / "tiny", 2);
  const Outcome model = Train("a", {{"--epochs", "1"}});
  EXPECT_EQ(model.exit, 2);
  EXPECT_THAT(model.err, HasSubstr("--model_dir"));
}

TEST_F(AgentTrain, ASecondProcessKeepsOutOfTheFolder) {
  Program first("agent_train", Arguments("a", {{"--epochs", "1000"}}), folder_.path());
  first.WaitUntil([&] { return Lines("a") > 0; });
  const Outcome second = Train("a", {{"--epochs", "1000"}});
  EXPECT_EQ(second.exit, 3);
  EXPECT_THAT(second.err, HasSubstr("in use by another process"));
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait().exit, 130);
}

TEST_F(AgentTrain, RowsThatAreTooLongAreSaid) {
  const std::string words = "Nothing happens.";
  std::string many = words, longer = Rows(3);
  for (int i = 0; i < 8; ++i) many += many;
  for (size_t at = 0; (at = longer.find(words, at)) != std::string::npos; at += many.size()) {
    longer.replace(at, words.size(), many);
  }
  WriteFileAtomically(folder_.path() / "rows.jsonl", longer + Rows(30));
  const Outcome some = Train("some", {{"--epochs", "1"}});
  EXPECT_EQ(some.exit, 0) << some.err;
  EXPECT_THAT(some.err, HasSubstr("9 of 87 rows that were read were left out"));
  const Outcome all = Train("all", {{"--max_length", "8"}, {"--eval_rows", "0"}});
  EXPECT_EQ(all.exit, 3);
  EXPECT_THAT(all.err, HasSubstr("no row could be trained"));
  EXPECT_FALSE(fs::exists(Result("all") / "model"));
}

TEST_F(AgentTrain, TheBestModelMayBeTheFirst) {
  const auto weights = [&](const char* name) {
    return Sha256(ReadFile(Result(name) / "model/model.safetensors"));
  };
  ASSERT_EQ(Train("still", {{"--lr", "0"}, {"--epochs", "1"}}).exit, 0);
  const Outcome worse = Train("worse", {{"--lr", "1"}, {"--epochs", "1"}, {"--export", "best"}});
  ASSERT_EQ(worse.exit, 0) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("at step 0); the best model"));
  EXPECT_EQ(weights("worse"), weights("still"));
  ASSERT_EQ(Train("last", {{"--lr", "1"}, {"--epochs", "1"}}).exit, 0);
  EXPECT_NE(weights("last"), weights("still"));
  const Outcome late = Train("last", {{"--lr", "1"}, {"--epochs", "1"}, {"--export", "best"}});
  EXPECT_EQ(late.exit, 2);
  EXPECT_THAT(late.err, HasSubstr("that of step 0, was not kept"));
  const Outcome none = Train("none", {{"--held_out", "1e-9"}, {"--export", "best"}});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("no task of the rows was drawn"));
}

TEST_F(AgentTrain, NumbersThatCannotBeAreRefused) {
  const std::vector<std::pair<std::string, std::string>> numbers = {
      {"--lora_alpha", "1e300"},
      {"--lora_rank", "100000"},
      {"--collective_timeout", "2147484"},
      {"--seed", "18446744073709551616"},
      {"--train_tokens", "18446744073709551615"}};
  for (const auto& [flag, value] : numbers) {
    const Outcome outcome =
        Train("a", flag == "--lora_alpha"
                       ? std::map<std::string, std::string>{{flag, value}, {"--lora_rank", "2"}}
                       : std::map<std::string, std::string>{{flag, value}});
    EXPECT_EQ(outcome.exit, 2) << flag;
    EXPECT_THAT(outcome.err, HasSubstr(flag));
  }
}

TEST_F(AgentTrain, WithoutHeldOutRowsThereIsNoHeldOutLoss) {
  const Outcome outcome = Train("a", {{"--held_out", "0"}, {"--max_steps", "1"}});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 steps, held-out loss -;"));
  EXPECT_THAT(outcome.err, HasSubstr("held-out -,"));
}

TEST_F(AgentTrain, ADamagedRecordIsNamedWithTheCure) {
  ASSERT_EQ(Train("a", {{"--max_steps", "1"}}).exit, 0);
  const fs::path checkpoint = *fs::directory_iterator(Result("a") / "checkpoints");
  auto state = nlohmann::json::parse(ReadFile(checkpoint / "state.json"));
  state["step"] = 1e300;
  WriteFileAtomically(checkpoint / "state.json", state.dump());
  const Outcome outcome = Train("a", {{"--max_steps", "1"}});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("field \"step\" (number) is not an integer"),
                                 HasSubstr("Cure: remove the checkpoint's folder")));
}

TEST_F(AgentTrain, WhatIsMissingIsSaid) {
  const Outcome none = RunProgram("agent_train", {}, folder_.path());
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("path_collect"));
  const Outcome model = RunProgram("agent_train", {"--data", "rows.jsonl"}, folder_.path());
  EXPECT_EQ(model.exit, 2);
  EXPECT_THAT(model.err, HasSubstr("--model_dir"));
}

}  // namespace
}  // namespace agentr
