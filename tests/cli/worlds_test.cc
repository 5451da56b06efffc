// The worlds that come with a bot, as a user plays them: search, revision and evaluation with
// nothing but the name of the task.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/file.h"
#include "mcts/tree_file.h"
#include "tests/cli/program.h"
#include "tests/common/silent_peer.h"

namespace agentr {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The trees of a folder, without the hash of the data, which public servers do not tell.
std::map<std::string, std::string> TreesWithoutHash(const std::filesystem::path& folder) {
  auto trees = TreeFiles(folder);
  for (auto& [name, text] : trees) {
    const std::string field = "\"data_hash\":\"";
    const size_t begin = text.find(field) + field.size();
    text.erase(begin, text.find('"', begin) - begin);
  }
  return trees;
}

class Worlds : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs a program in the folder of the test; it must succeed.
  Outcome Run(const std::string& program, const Arguments& more) const {
    const Outcome outcome =
        RunProgram(program, Arguments{"--task", GetParam()} + more, folder_.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
    EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
    return outcome;
  }

  const ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Tasks, Worlds,
                         ::testing::Values("babyai", "twenty_questions", "guess_my_city",
                                           "detective", "wordle", "maze"),
                         [](const auto& test) { return test.param; });

TEST_P(Worlds, AreSearchedAndRevised) {
  Run("mcts_collect", {"--min", "0", "--max", "12", "--iterations", "4"});
  const auto trees = TreeFiles(folder_.path());
  EXPECT_GE(trees.size(), 10U);
  int good = 0;
  for (const auto& [name, text] : trees) {
    const Tree tree = ReadTree(text, name);
    for (const Node& node : tree.nodes()) good += node.end == End::kDone && node.reward > 0.5;
  }
  EXPECT_GT(good, 12);
  const auto folder = folder_.path() / "mcts_result" / GetParam() / "planner" / "run.json";
  const nlohmann::json run = nlohmann::json::parse(ReadFile(folder))["runs"].back();
  EXPECT_EQ(run["result"]["environment"]["mismatches"], 0);
  EXPECT_THAT(Run("path_collect", {"--revise", "1"}).out, HasSubstr("replay"));
  Run("path_collect", {"--data_type", "judgements"});
  int balance = 0;
  int judged = 0;
  std::ifstream rows(folder_.path() / "path_result" / (GetParam() + "_judgements.messages.jsonl"));
  for (std::string line; std::getline(rows, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string judgement = row["provenance"]["judgement"];
    EXPECT_THAT(row["messages"].back()["content"].get<std::string>(),
                EndsWith("Judgement: " + judgement));
    balance += judgement == "Good" ? 1 : -1;
    ++judged;
  }
  EXPECT_EQ(balance, 0);
  EXPECT_GT(judged, 0);
}

TEST_P(Worlds, TheSameSeedGivesTheSameTreesWithoutForksToo) {
  const ScratchFolder plain;
  const Arguments line = {"--min", "3", "--max", "9", "--iterations", "2"};
  Run("mcts_collect", line);
  Program server("env_server", {"--task", GetParam(), "--port", "0", "--no_extensions"},
                 plain.path());
  const Arguments over = {"--task", GetParam(), "--env_server_base", server.WaitForUrl()};
  const ScratchFolder other;
  const Outcome outcome = RunProgram("mcts_collect", over + line, other.path());
  EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(TreesWithoutHash(other.path()) == TreesWithoutHash(folder_.path()));
  EXPECT_GE(TreeFiles(other.path()).size(), 5U);
}

TEST_P(Worlds, AreEvaluatedWithTheirOwnMeasureOfSuccess) {
  Run("agent_eval",
      {"--split", "train", "--max", "20", "--planner_error_rate", "0", "--max_steps", "50"});
  const auto folder = folder_.path() / "test_result" / GetParam() / "planner_scripted";
  const nlohmann::json summary = nlohmann::json::parse(ReadFile(folder / "summary.json"));
  EXPECT_GE(summary["asked_for"], 16);
  EXPECT_EQ(summary["successes"], summary["asked_for"]) << "every goal is reached";
  if (GetParam() == "detective" || GetParam() == "wordle" || GetParam() == "maze") {
    EXPECT_EQ(summary["success_threshold"], 1);
  } else {
    EXPECT_LT(summary["success_threshold"], 0.1) << "no reward is 1";
  }
  // Also where two folders are compared, which name their task themselves.
  const Outcome compared =
      RunProgram("agent_eval", {"--compare", folder.string(), folder.string()}, folder_.path());
  EXPECT_EQ(compared.exit, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr(fmt::format("a success is a reward of at least {}\n",
                                                  summary["success_threshold"].get<double>())));
}

TEST(Oracle, AModelWithoutAServerIsRefused) {
  const ScratchFolder folder;
  const Outcome outcome =
      RunProgram("env_server", {"--task", "twenty_questions", "--port", "0", "--oracle_model", "m"},
                 folder.path());
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--oracle_base"));
}

// Before anything is asked, it says what it waits for and for how long.
TEST(Oracle, AMuteOneIsNamedBeforeItIsAsked) {
  const ScratchFolder folder;
  const SilentPeer oracle(Silence::kNeverAnswers);
  const Outcome outcome =
      RunProgram("env_server",
                 {"--task", "guess_my_city", "--port", "0", "--oracle_model", "m", "--oracle_base",
                  oracle.url() + "/v1", "--oracle_timeout", "0.3"},
                 folder.path());
  EXPECT_EQ(outcome.exit, 4);
  // Before the line with the error, which names the oracle too.
  const size_t asks = outcome.err.find("asking the oracle at " + oracle.url() + "/v1");
  ASSERT_NE(asks, std::string::npos) << outcome.err;
  EXPECT_THAT(outcome.err.substr(asks, outcome.err.find('\n', asks) - asks),
              HasSubstr("at most 0.3 s (--oracle_timeout)"));
}

// The whole way. The former name of the kind, an option of webshop, still means the same.
TEST(ArcherStyle, IsSearchedRevisedAndEvaluated) {
  const ScratchFolder folder;
  const auto run = [&](const std::string& program, const Arguments& arguments) {
    const Outcome outcome = RunProgram(program, arguments, folder.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
    return outcome.out;
  };
  const Arguments former = {"--task", "webshop", "--style", "archer"};
  const Arguments own = {"--task", "webshop_archer"};
  run("mcts_collect", own + Words("--min 2000 --max 2020 --iterations 6"));
  const auto trees = TreeFiles(folder.path());
  EXPECT_EQ(trees.size(), 18U) << "of twenty ids, without two test ids";
  int bought = 0;
  for (const auto& [name, text] : trees) {
    const Tree tree = ReadTree(text, name);
    EXPECT_EQ(tree.origin().family, "webshop_archer");
    EXPECT_TRUE(tree.root().observation.starts_with("\nObservation:\n\nWebShop "));
    for (const Node& node : tree.nodes()) bought += node.end == End::kDone && node.reward >= 1;
  }
  EXPECT_GT(bought, 20);
  const std::filesystem::path trees_at = folder.path() / "mcts_result/webshop_archer/planner";
  const nlohmann::json searched = nlohmann::json::parse(ReadFile(trees_at / "run.json"));
  EXPECT_EQ(searched["runs"].back()["result"]["environment"]["mismatches"], 0);
  run("path_collect", {"--output_dir", "newest", "--max_form_share", "1"});
  run("path_collect", former + Words("--output_dir named --max_form_share 1"));
  const auto revised = [&](const std::string& output, const std::string& file) {
    return ReadFile(folder.path() / output / ("webshop_archer_centric." + file));
  };
  const std::string rows = revised("named", "messages.jsonl");
  EXPECT_EQ(rows, revised("newest", "messages.jsonl")) << "without the option, of the newest trees";
  const nlohmann::json counts =
      nlohmann::json::parse(revised("named", "run.json"))["counts"]["replay"];
  const double verified = counts["verified"], failed = counts["failed"];
  EXPECT_GT(verified, 200) << counts;
  EXPECT_GT(verified / (verified + failed), 0.95) << counts;
  run("agent_eval", own + Words("--split train --max 30 --planner_error_rate 0"));
  const nlohmann::json summary = nlohmann::json::parse(
      ReadFile(folder.path() / "test_result/webshop_archer/planner_scripted/summary.json"));
  EXPECT_EQ(summary["asked_for"], 30);
  EXPECT_GT(summary["reward"]["mean"], 0.8);
  const Outcome unknown =
      RunProgram("mcts_collect", {"--task", "babyai", "--style", "archer"}, folder.path());
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown task \"babyai_archer\""));
}

}  // namespace
}  // namespace agentr
