// self_train as a process: all stages of two iterations on TextCraft with a tiny model of random
// weights, which learns from demonstrations here (it solves no task by itself), killed and gone on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/file.h"
#include "common/hash.h"
#include "tests/cli/program.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class SelfTrain : public ::testing::Test {
 protected:
  SelfTrain() {
    WriteTinyModel(folder_.path() / "tiny");
    std::string rows;
    for (int task_id = 0; task_id < 8; ++task_id) {
      auto messages = nlohmann::json::array();
      messages.push_back({{"role", "user"}, {"content", fmt::format("Craft item {}.", task_id)}});
      messages.push_back({{"role", "assistant"}, {"content", "Action: inventory"}, {"loss", true}});
      rows += nlohmann::json{{"task_num", task_id}, {"messages", messages}}.dump() + "\n";
    }
    WriteFileAtomically(folder_.path() / "demonstrations.jsonl", rows);
  }

  static std::vector<std::string> Arguments(const std::string& name,
                                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--model_dir=tiny", "--name=" + name, "--iterations=2",
                                          "--alpha=0", "--demonstrations=demonstrations.jsonl"};
    for (const char* collect : {"min=200", "max=206", "iterations=2", "n_gen=2", "max_depth=3"}) {
      arguments.push_back(fmt::format("--collect=--{}", collect));
    }
    for (const char* play : {"max=4", "max_steps=3"}) {
      arguments.push_back(fmt::format("--evaluate=--{}", play));
    }
    for (const char* stage : {"collect", "evaluate"}) {
      arguments.push_back(fmt::format("--{}=--max_new_tokens=4", stage));
    }
    for (const char* train : {"epochs=2", "lr=1e-2", "batch_rows=4", "model_threads=1"}) {
      arguments.push_back(fmt::format("--train=--{}", train));
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Outcome Run(const std::string& name, const std::vector<std::string>& more = {}) const {
    return RunProgram("self_train", Arguments(name, more), folder_.path());
  }

  fs::path Result(const std::string& name) const { return folder_.path() / "loop_result" / name; }

  nlohmann::json Stages(const std::string& name) const {
    return nlohmann::json::parse(ReadFile(Result(name) / "loop.json"))["stages"];
  }

  size_t Finished(const std::string& name) const {
    return fs::exists(Result(name) / "loop.json") ? Stages(name).size() : 0;
  }

  // What a run came to, without times, what a cache saved, and the name of the run.
  std::string Left(const std::string& name) const {
    std::string text;
    auto record = nlohmann::ordered_json::parse(ReadFile(Result(name) / "loop.json"));
    for (auto& stage : record["stages"]) {
      stage["wall_s"] = 0;
      stage["arguments"].clear();
    }
    text += record.dump(1) + "\n";
    for (int i = 0; i <= 2; ++i) {
      const fs::path folder =
          Result(name) / fmt::format("iteration_{}/evaluate/textcraft/model_local", i);
      std::set<fs::path> episodes;
      for (const auto& entry : fs::directory_iterator(folder)) {
        const bool played = entry.path().filename().string().starts_with("search_results_");
        if (played) episodes.insert(entry.path());
      }
      EXPECT_EQ(episodes.size(), 4U);
      for (const fs::path& path : episodes) {
        auto episode = nlohmann::ordered_json::parse(ReadFile(path));
        episode.erase("timings");
        episode["usage"].erase("cached_tokens");
        text += episode.dump() + "\n";
      }
    }
    for (int i = 1; i <= 2; ++i) text += Sha256(ReadFile(Weights(name, i))) + "\n";
    return text;
  }

  fs::path Weights(const std::string& name, int iteration) const {
    return Result(name) /
           fmt::format("iteration_{}/train/model/model/model.safetensors", iteration);
  }

  // The evaluation of the iteration in run "a" is that of the model in `model`.
  void ExpectEvaluated(const fs::path& model, int iteration) const {
    const Outcome alone = RunProgram(
        "agent_eval",
        {"--task=textcraft", "--model_dir=" + model.string(), "--model_name=model", "--max=4",
         "--max_steps=3", "--max_new_tokens=4", "--model_threads=1", "--output_dir=alone"},
        folder_.path());
    ASSERT_EQ(alone.exit, 0) << alone.err;
    const std::string summary = "textcraft/model_local/summary.json";
    EXPECT_EQ(ReadFile(folder_.path() / "alone" / summary),
              ReadFile(Result("a") / fmt::format("iteration_{}/evaluate", iteration) / summary));
  }

  ScratchFolder folder_;
};

// Not like a search that leaves out some tasks, after which the loop goes on.
TEST_F(SelfTrain, ATrainingThatDivergesEndsTheLoop) {
  std::vector<std::string> arguments = Arguments("a", {"--train=--warmup=0"});
  std::ranges::replace(arguments, "--train=--lr=1e-2", "--train=--lr=1e30");
  const Outcome outcome = RunProgram("self_train", arguments, folder_.path());
  EXPECT_EQ(outcome.exit, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the training has diverged"));
  EXPECT_FALSE(fs::exists(Weights("a", 1)));
  for (const auto& stage : Stages("a")) {
    EXPECT_THAT(stage["stage"].get<std::string>(), Not(HasSubstr("train")));
  }
}

TEST_F(SelfTrain, SearchesRevisesTrainsAndEvaluatesAgainAndAgain) {
  const Outcome outcome = Run("a", {"--attempts=2"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  std::vector<std::string> names;
  for (const auto& stage : Stages("a")) names.push_back(stage["stage"]);
  std::vector<std::string> expected = {"iteration_0/evaluate", "iteration_0/sample"};
  for (const char* iteration : {"iteration_1", "iteration_2"}) {
    for (const char* stage :
         {"collect", "revise_centric", "revise_good", "train", "evaluate", "sample"}) {
      expected.push_back(fmt::format("{}/{}", iteration, stage));
    }
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(Stages("a")[2]["result"]["trees"], 6);
  EXPECT_NE(Sha256(ReadFile(Weights("a", 1))), Sha256(ReadFile(Weights("a", 2))));
  EXPECT_NE(Sha256(ReadFile(Weights("a", 1))),
            Sha256(ReadFile(folder_.path() / "tiny/model.safetensors")));
  // Each iteration searches and plays with the weights that the one before has made.
  const auto identity = [&](int i) {
    return nlohmann::json::parse(ReadFile(
        Result("a") / fmt::format("iteration_{}/evaluate/textcraft/model_local/summary.json",
                                  i)))["options"]["model_identity"];
  };
  EXPECT_NE(identity(0), identity(1));
  EXPECT_NE(identity(1), identity(2));
  // From memory the engine got just what the folder holds.
  ExpectEvaluated(Result("a") / "iteration_1/train/model/model", 1);
  EXPECT_THAT(outcome.out, HasSubstr("against the start"));
  EXPECT_EQ(ReadFile(Result("a") / "table.txt").find("iteration_2/train") != std::string::npos,
            true);

  const Outcome again = Run("a", {"--attempts=2"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, Not(HasSubstr("\n== iteration")));
  const Outcome other = Run("a", {"--attempts=2", "--beta=0.3"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("--beta=0.3"));
  const Outcome narrow = Run("a", {"--attempts=2", "--kv_dtype=bfloat16"});
  EXPECT_EQ(narrow.exit, 2);
  EXPECT_THAT(narrow.err, HasSubstr("--kv_dtype \"auto\" there"));
}

// The tiny model has nothing to correct; the scripted player, whose trees are revised here, has.
TEST_F(SelfTrain, BehindEachTrainingCorrectionsArePreferred) {
  const Outcome searched =
      RunProgram("mcts_collect",
                 {"--task=textcraft", "--min=31", "--max=37", "--planner_error_rate=0.5",
                  "--model_name=planner", "--output_dir=trees"},
                 folder_.path());
  ASSERT_EQ(searched.exit, 0) << searched.err;
  std::vector<std::string> arguments = Arguments("a", {"--prefer_steps=4"});
  for (const char* revise : {"input_dir=trees", "model_name=planner", "revision_turn=next"}) {
    arguments.push_back(fmt::format("--revise=--{}", revise));
  }
  for (const char* prefer : {"lr=1e-3", "model_threads=1"}) {
    arguments.push_back(fmt::format("--prefer=--{}", prefer));
  }
  const auto run = [&] { return RunProgram("self_train", arguments, folder_.path()); };
  const Outcome outcome = run();
  ASSERT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_EQ(Stages("a")[5]["stage"], "iteration_1/prefer");
  EXPECT_EQ(Stages("a")[5]["result"]["iterations"], 4);
  const auto preferred = [&](int i) {
    return Result("a") / fmt::format("iteration_{}/prefer/model/model/model.safetensors", i);
  };
  EXPECT_NE(Sha256(ReadFile(preferred(1))), Sha256(ReadFile(Weights("a", 1))));
  EXPECT_NE(Sha256(ReadFile(preferred(2))), Sha256(ReadFile(Weights("a", 2))));
  // The evaluation had its weights.
  ExpectEvaluated(preferred(2).parent_path(), 2);
  const Outcome again = run();
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, Not(HasSubstr("\n== iteration")));

  const Outcome none = Run("b", {"--prefer_steps=4"});
  EXPECT_EQ(none.exit, 1) << none.err;
  EXPECT_THAT(none.err, HasSubstr("iteration_1/prefer has nothing to train on: no row corrects"));
}

TEST_F(SelfTrain, KilledAtAnyMomentItComesToTheSame) {
  ASSERT_EQ(Run("whole").exit, 0);
  // Behind one more stage than before, at any moment of the next.
  KillAgainAndAgain(
      "self_train", Arguments("killed"), folder_.path(), /*times=*/8, /*most_ms=*/100,
      [&] { return Finished("killed"); }, Result("killed"));
  const Outcome last = Run("killed");
  ASSERT_EQ(last.exit, 0) << last.err;
  EXPECT_EQ(Left("killed"), Left("whole"));
}

TEST_F(SelfTrain, ArgumentsOfLaterStagesAreCheckedBeforeTheFirst) {
  const Outcome outcome = Run("a", {"--train=--epoch=3"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("iteration_1/train"));
  EXPECT_THAT(outcome.err, HasSubstr("--epoch=3"));
  EXPECT_FALSE(fs::exists(Result("a") / "iteration_0"));
  const Outcome processes = Run("a", {"--train=--processes=2"});
  EXPECT_EQ(processes.exit, 2);
  EXPECT_THAT(processes.err, HasSubstr("--processes"));
  const Outcome elsewhere = Run("a", {"--revise=--data_type=preferences"});
  EXPECT_EQ(elsewhere.exit, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("--data_type preferences"));
  EXPECT_EQ(Run("a", {"--revise=--data_type=judgements"}).exit, 2);
}

TEST_F(SelfTrain, WithoutRowsTheCureIsNamed) {
  std::vector<std::string> arguments = Arguments("a");
  std::erase(arguments, "--demonstrations=demonstrations.jsonl");
  const Outcome outcome = RunProgram("self_train", arguments, folder_.path());
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.err, HasSubstr("iteration_1/train has nothing to train on"));
  // Demonstrations that are asked for are never left out.
  WriteFileAtomically(folder_.path() / "demonstrations.jsonl", "");
  const Outcome empty = Run("b");
  EXPECT_EQ(empty.exit, 3);
  EXPECT_THAT(empty.err, HasSubstr("demonstrations.jsonl"));
}

}  // namespace
}  // namespace agentr
