// From search trees to a better model: path_collect's preferences, and agent_rl on trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "common/file.h"
#include "common/hash.h"
#include "tests/cli/program.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<nlohmann::json> LinesOf(const fs::path& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

class TreeLearning : public ::testing::Test {
 protected:
  TreeLearning() { WriteTinyModel(folder_.path() / "tiny"); }

  Outcome MustRun(const std::string& program, const Arguments& arguments) {
    Outcome outcome = Program(program, arguments, folder_.path()).Wait();
    EXPECT_EQ(outcome.exit, 0) << program << "\n" << outcome.out << outcome.err;
    return outcome;
  }
  void Collect(const Arguments& more = {}) {
    MustRun("mcts_collect", Words("--task textcraft --min 31 --max 37") + more);
  }
  Outcome Learn(const std::string& algorithm, const std::string& name, int processes = 1,
                const Arguments& more = {}) {
    const Arguments own = {"--algorithm",
                           algorithm,
                           "--name",
                           name,
                           "--model_dir",
                           "tiny",
                           "--iterations",
                           "3",
                           "--updates",
                           "4",
                           "--batch",
                           "16",
                           "--lr",
                           "1e-3",
                           "--model_threads",
                           "1",
                           "--processes",
                           std::to_string(processes)};
    return MustRun("agent_rl", own + more);
  }
  std::vector<nlohmann::json> Metrics(const std::string& name) {
    return LinesOf(folder_.path() / "rl_result" / name / "metrics.jsonl");
  }
  std::string ModelHash(const std::string& name) {
    return Sha256(ReadFile(folder_.path() / "rl_result" / name / "model/model.safetensors"));
  }

  ScratchFolder folder_;
};

TEST_F(TreeLearning, PreferencesAreWrittenForPeopleAndLearned) {
  Collect();
  const Outcome collected = MustRun("path_collect", {"--data_type", "preferences", "--show", "1"});
  EXPECT_THAT(collected.out, HasSubstr("pair 1, after"));
  const auto rows = LinesOf(folder_.path() / "path_result/textcraft_preferences.jsonl");
  ASSERT_GT(rows.size(), 3U);
  for (const auto& row : rows) {
    EXPECT_EQ(row["prompt"].back()["role"], "user");
    EXPECT_EQ(row["chosen"].size(), 1U);
    EXPECT_EQ(row["chosen"][0]["role"], "assistant");
    EXPECT_NE(row["chosen"][0]["content"], row["rejected"][0]["content"]);
    EXPECT_GT(row["provenance"]["values"]["chosen"], row["provenance"]["values"]["rejected"]);
  }
  const std::string first = ReadFile(folder_.path() / "path_result/textcraft_preferences.jsonl");
  MustRun("path_collect", {"--data_type", "preferences"});
  EXPECT_EQ(ReadFile(folder_.path() / "path_result/textcraft_preferences.jsonl"), first);
  // Fewer pairs do not take their place unasked.
  const Arguments fewer = {"--data_type", "preferences", "--max", "33"};
  const Outcome kept = Program("path_collect", fewer, folder_.path()).Wait();
  EXPECT_EQ(kept.exit, 2);
  EXPECT_THAT(kept.err, HasSubstr("--overwrite 1"));
  EXPECT_EQ(ReadFile(folder_.path() / "path_result/textcraft_preferences.jsonl"), first);
  const Outcome none =
      Program("path_collect", {"--data_type", "preferences", "--min", "5000"}, folder_.path())
          .Wait();
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("no tree is left"));

  Learn("dpo", "a");
  Learn("dpo", "b");
  EXPECT_EQ(ModelHash("a"), ModelHash("b"));
  const auto metrics = Metrics("a");
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_LT(metrics.back()["train"]["loss"], std::log(2));
  EXPECT_GT(metrics.back()["train"]["margin"], 0);
}

// The turn that mends is preferred to the refused turn again.
TEST_F(TreeLearning, WhatRowsCorrectIsLearnedFromAFileOfPairs) {
  Collect({"--planner_error_rate", "0.5"});
  MustRun("path_collect", {"--revise", "1", "--revision_turn", "next", "--format", "preference"});
  const std::string pairs = "path_result/textcraft_centric.preference.jsonl";
  const auto rows = LinesOf(folder_.path() / pairs);
  ASSERT_GT(rows.size(), 3U);
  for (const auto& row : rows) {
    EXPECT_THAT(row["prompt"].back()["content"], HasSubstr("Could not"));
    EXPECT_NE(row["chosen"][0]["content"], row["rejected"][0]["content"]);
  }
  MustRun("agent_rl", {"--algorithm", "dpo", "--pairs", pairs, "--name", "pairs", "--model_dir",
                       "tiny", "--iterations", "2", "--updates", "4", "--batch", "8", "--lr",
                       "1e-3", "--model_threads", "1"});
  const auto metrics = Metrics("pairs");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_GT(metrics.back()["train"]["margin"], metrics.front()["train"]["margin"]);
}

TEST_F(TreeLearning, WhatDoesNotPlayMayComputeInBfloat16) {
  Collect();
  for (const std::string algorithm : {"dpo", "awr"}) {
    Learn(algorithm, algorithm);
    Learn(algorithm, algorithm + "-narrow", 1, {"--dtype", "bfloat16"});
    const auto wide = Metrics(algorithm), narrow = Metrics(algorithm + "-narrow");
    ASSERT_EQ(wide.size(), narrow.size());
    for (size_t i = 0; i < wide.size(); ++i) {
      const double expected = wide[i]["train"]["loss"], loss = narrow[i]["train"]["loss"];
      EXPECT_NE(loss, expected) << algorithm;
      EXPECT_NEAR(loss, expected, 0.03 * std::abs(expected)) << algorithm;
    }
  }
  const Outcome refused =
      Program("agent_rl",
              {"--algorithm", "tree_grpo", "--model_dir", "tiny", "--dtype", "bfloat16"},
              folder_.path())
          .Wait();
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("--algorithm tree_grpo compares"));
}

TEST_F(TreeLearning, AwrAndTreeGrpoLearnFromAllResponses) {
  Collect();
  for (const std::string algorithm : {"awr", "tree_grpo"}) {
    Learn(algorithm, algorithm);
    const auto metrics = Metrics(algorithm);
    ASSERT_EQ(metrics.size(), 3U) << algorithm;
    EXPECT_LT(metrics.back()["train"]["loss"], metrics.front()["train"]["loss"]) << algorithm;
  }
}

// The newest trees are learned from, so that the same command may mean others.
TEST_F(TreeLearning, ARunDoesNotGoOnWithOtherTrees) {
  Collect();
  Learn("awr", "a");
  MustRun("mcts_collect", {"--task", "textcraft", "--min", "37", "--max", "39"});
  const Outcome other = Program("agent_rl",
                                {"--algorithm", "awr", "--name", "a", "--model_dir", "tiny",
                                 "--iterations", "3", "--updates", "4", "--batch", "16", "--lr",
                                 "1e-3", "--model_threads", "1", "--processes", "1"},
                                folder_.path())
                            .Wait();
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("has learned from other trees"));
}

// Also the probabilities of the reference model are computed together.
TEST_F(TreeLearning, SeveralProcessesLearnAsOne) {
  Collect();
  for (const std::string algorithm : {"dpo", "awr"}) {
    Learn(algorithm, algorithm);
    Learn(algorithm, algorithm + "-3", 3);
    const auto alone = Metrics(algorithm), shared = Metrics(algorithm + "-3");
    ASSERT_EQ(alone.size(), shared.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      for (const char* key : {"loss", "gradient_norm", "items", "row_tokens"}) {
        const double expected = alone[i]["train"][key];
        EXPECT_NEAR(shared[i]["train"][key].get<double>(), expected, 1e-4 * std::abs(expected))
            << algorithm << " " << key;
      }
    }
  }
}

// The rate is 0 in the first step, and then much too high.
TEST_F(TreeLearning, ARunThatDivergesEndsAndKeepsItsGoodCheckpoint) {
  Collect();
  for (const std::string algorithm : {"dpo", "awr", "tree_grpo"}) {
    const Outcome outcome =
        Program("agent_rl",
                {"--algorithm",  algorithm, "--name",        algorithm,  "--model_dir",     "tiny",
                 "--iterations", "4",       "--updates",     "1",        "--batch",         "16",
                 "--lr",         "1e30",    "--lr_schedule", "constant", "--warmup",        "0.5",
                 "--save_every", "1",       "--keep",        "1",        "--model_threads", "1",
                 "--processes",  "1"},
                folder_.path())
            .Wait();
    EXPECT_EQ(outcome.exit, 1) << algorithm << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("the training has diverged: ")) << algorithm;
    const fs::path result = folder_.path() / "rl_result" / algorithm;
    EXPECT_FALSE(fs::exists(result / "model")) << algorithm;
    EXPECT_TRUE(fs::exists(result / "checkpoints/step-00000001")) << algorithm;
    EXPECT_FALSE(fs::exists(result / "checkpoints/step-00000002")) << algorithm;
  }
}

// The trees say of which task they are; --task is of worlds.
TEST_F(TreeLearning, ARunIsNamedAfterItsAlgorithm) {
  Collect({"--temperature", "0.7"});
  const Outcome outcome =
      MustRun("agent_rl", {"--algorithm", "tree_grpo", "--model_dir", "tiny", "--iterations", "1",
                           "--updates", "1", "--batch", "4", "--model_threads", "1"});
  EXPECT_TRUE(fs::exists(folder_.path() / "rl_result/tree_grpo/model"));
  EXPECT_THAT(outcome.err, HasSubstr("Cure: mcts_collect --temperature 1"));
}

TEST_F(TreeLearning, GrpoLearnsFromGroupsOfEpisodes) {
  MustRun("agent_eval", {"--task", "textcraft", "--split", "train", "--max", "6", "--attempts", "4",
                         "--model_name", "planner", "--planner_error_rate", "0.5"});
  const Outcome learned = MustRun(
      "agent_rl", {"--algorithm", "grpo", "--name", "grpo", "--episodes",
                   "test_result/textcraft/planner_scripted", "--model_dir", "tiny", "--iterations",
                   "2", "--updates", "2", "--batch", "8", "--lr", "1e-3", "--model_threads", "1"});
  EXPECT_THAT(learned.out, HasSubstr("of 6 trees"));
  EXPECT_EQ(Metrics("grpo").size(), 2U);
}

}  // namespace
}  // namespace agentr
