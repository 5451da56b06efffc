// path_collect as a user runs it, behind mcts_collect.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "common/file.h"
#include "tasks/splits.h"
#include "tests/cli/program.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/clients/http/fault_proxy.h"
#include "tests/clients/http/local_server.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Judges every step as bad that is the second one of its path or later; counts what it was asked.
class ScriptedJudge {
 public:
  ScriptedJudge() {
    server_->Post(
        "/v1/chat/completions", [this](const httplib::Request& request, httplib::Response& reply) {
          const std::string question =
              nlohmann::json::parse(request.body)["messages"].back()["content"];
          ++questions;
          if (question.find("Judgement: Good|Bad|Uncertain") == std::string::npos) ++strange;
          std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
          const bool first = question.find("(nothing)") != std::string::npos;
          const nlohmann::json message = {{"role", "assistant"},
                                          {"content", first ? "It may help.\nJudgement: Uncertain"
                                                            : "It is of no use.\nJudgement: Bad"}};
          reply.set_content(
              nlohmann::json{
                  {"choices", {{{"index", 0}, {"message", message}, {"finish_reason", "stop"}}}},
                  {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 3}}}}
                  .dump(),
              "application/json");
        });
    server_.Start();
  }
  std::string url() const { return server_.url() + "/v1"; }

  std::atomic<int> questions = 0;
  std::atomic<int> strange = 0;
  std::atomic<int> delay_ms = 0;

 private:
  LocalServer server_;
};

class PathCollect : public ::testing::TestWithParam<std::string> {
 protected:
  std::string task() const { return GetParam(); }

  // Trees of a dozen tasks or so, with `more` options.
  void Search(const Arguments& more = {}, const std::string& max = "43") {
    const Arguments arguments = {"--task", task(), "--min", "31", "--max", max};
    ASSERT_THAT(RunProgram("mcts_collect", arguments + more, folder_.path()), Exits(0));
  }

  Outcome Run(const Arguments& arguments, const std::map<std::string, std::string>& env = {}) {
    return RunProgram("path_collect", arguments, folder_.path(), env);
  }

  fs::path PathOf(const std::string& suffix, const std::string& data_type = "centric",
                  const std::string& output_dir = "path_result") const {
    return folder_.path() / output_dir / (task() + "_" + data_type + suffix);
  }

  nlohmann::json RunFile() const { return nlohmann::json::parse(ReadFile(PathOf(".run.json"))); }

  const ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Tasks, PathCollect, ::testing::Values("webshop", "textcraft"),
                         [](const auto& test) { return test.param; });

TEST_P(PathCollect, WithNothingElseSetItRevisesWhatWasWrittenLast) {
  Search();
  const Outcome outcome = Run({"--revise", "1"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  for (const char* word : {"12 trees in ", "pairs", "first error", "replay", "verified", "dropped",
                           "rows", "time", "_centric.jsonl", "_centric.messages.jsonl"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  const auto rows = ReadRows(PathOf(".jsonl"));
  const auto messages = ReadRows(PathOf(".messages.jsonl"));
  const auto provenance = ReadRows(PathOf(".provenance.jsonl"));
  ASSERT_GT(rows.size(), 0U);
  ASSERT_EQ(messages.size(), rows.size());
  ASSERT_EQ(provenance.size(), rows.size());
  std::set<std::string> hashes;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].size(), 7U);
    EXPECT_EQ(messages[i]["provenance"], provenance[i]);
    ASSERT_EQ(messages[i]["messages"].size(), rows[i]["revise_log"].size());
    EXPECT_EQ(provenance[i]["replay"], "verified");
    EXPECT_EQ(provenance[i]["version"], 2);
    EXPECT_EQ(messages[i]["messages"].back()["role"], "assistant");
    EXPECT_EQ(messages[i]["messages"][1]["weight"], 0) << "the Ok. of the instruction";
    EXPECT_TRUE(hashes.insert(provenance[i]["hash"]).second) << "row " << i << " is there twice";
    EXPECT_FALSE(SplitOf(task()).IsTest(rows[i]["task_num"]));
  }
  const nlohmann::json run = RunFile();
  EXPECT_EQ(run["rows"], rows.size());
  EXPECT_GT(run["counts"]["replay"]["verified"], 0);
  EXPECT_LT(run["counts"]["environment"]["steps"], run["counts"]["episode_turns"]);
  EXPECT_EQ(run["audit"]["rows"], rows.size());
  EXPECT_EQ(run["audit"]["trained"]["refused"], 0);
  EXPECT_EQ(run["audit"]["rows_by"]["replay"]["verified"], rows.size());
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
}

TEST_P(PathCollect, EveryFormatHasEveryRow) {
  Search();
  const Outcome outcome =
      Run({"--format", "tokens", "--format", "sharegpt", "--format", "agent-r"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const size_t rows = ReadRows(PathOf(".jsonl")).size();
  EXPECT_GT(rows, 0U);
  EXPECT_EQ(ReadRows(PathOf(".tokens.jsonl")).size(), rows);
  EXPECT_EQ(ReadRows(PathOf(".sharegpt.jsonl")).size(), rows);
  EXPECT_FALSE(fs::exists(PathOf(".messages.jsonl")));
}

TEST_P(PathCollect, SaysWhatTheRowsAreToOtherPrograms) {
  Search();
  const Outcome outcome = Run({"--format", "messages", "--format", "last_turn", "--parquet", "1"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  size_t trained = 0;
  for (const auto& row : ReadRows(PathOf(".messages.jsonl"))) {
    for (const auto& message : row["messages"]) trained += message.value("weight", 0) == 1 ? 1 : 0;
  }
  EXPECT_EQ(ReadRows(PathOf(".last_turn.jsonl")).size(), trained);
  const std::string card = ReadFile(folder_.path() / "path_result/README.md");
  for (const char* format : {".messages", ".last_turn"}) {
    EXPECT_THAT(card, HasSubstr(fmt::format("  data_files: {}_centric{}.jsonl", task(), format)));
    const std::string table = ReadFile(PathOf(std::string(format) + ".parquet"));
    EXPECT_TRUE(table.starts_with("PAR1") && table.ends_with("PAR1"));
  }
  EXPECT_THAT(card, HasSubstr(fmt::format("| trained turns | {} of ", trained)));
  const auto info =
      nlohmann::json::parse(ReadFile(folder_.path() / "path_result/dataset_info.json"));
  EXPECT_EQ(info[task() + "_centric.last_turn"]["file_name"], task() + "_centric.last_turn.jsonl");
}

TEST_P(PathCollect, GoodPathsAndDirectRevision) {
  Search();
  ASSERT_EQ(Run({"--data_type", "good"}).exit, 0);
  for (const auto& row : ReadRows(PathOf(".messages.jsonl", "good"))) {
    EXPECT_GE(row["provenance"]["rewards"]["good"], 0.5);
    EXPECT_EQ(row["provenance"]["replay"], "verified") << "nothing was changed";
  }
  ASSERT_EQ(Run({"--revise", "0", "--replay", "0"}).exit, 0);
  const auto rows = ReadRows(PathOf(".jsonl"));
  ASSERT_GT(rows.size(), 0U);
  EXPECT_EQ(rows[0]["revise"], false);
  EXPECT_THAT(rows[0]["revise_feedback"], IsEmpty());
}

TEST_P(PathCollect, ReadsTreesOfTheOriginalFormat) {
  Search({"--tree_format", "agent-r"});
  const Outcome outcome = Run({"--replay", "1"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const auto rows = ReadRows(PathOf(".messages.jsonl"));
  ASSERT_GT(rows.size(), 0U);
  EXPECT_EQ(rows[0]["provenance"]["model"], "planner");
}

TEST_P(PathCollect, BothTreeFormatsGiveTheSameRows) {
  Search();
  Search({"--tree_format", "agent-r", "--output_dir", "nested"});
  const auto rows = [&](const std::string& trees) {
    const Outcome outcome = Run({"--format", "agent-r", "--format", "sharegpt", "--format",
                                 "messages", "--input_dir", trees, "--output_dir", trees});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const auto path = [&](const char* suffix) { return PathOf(suffix, "centric", trees); };
    // All but where the tree is, and the data's hash, which Agent-R's files do not have.
    std::vector<nlohmann::json> with_provenance = ReadRows(path(".messages.jsonl"));
    for (nlohmann::json& row : ReadRows(path(".sharegpt.jsonl"))) {
      with_provenance.push_back(std::move(row));
    }
    for (nlohmann::json& row : with_provenance) {
      EXPECT_EQ(row["provenance"].erase("tree"), 1U);
      EXPECT_EQ(row["provenance"].erase("data_hash"), 1U);
    }
    return std::pair(ReadFile(path(".jsonl")), with_provenance);
  };
  const auto compact = rows("mcts_result");
  EXPECT_GT(compact.second.size(), 0U);
  EXPECT_EQ(rows("nested"), compact);
}

TEST_P(PathCollect, TestTasksNeverAppear) {
  const std::string id = task() == "webshop" ? "26" : "0";
  ASSERT_EQ(RunProgram("mcts_collect",
                       {"--task", task(), "--min", id, "--max", std::to_string(std::stoi(id) + 1),
                        "--split", "all"},
                       folder_.path())
                .exit,
            0);
  const Outcome outcome = Run({});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("trees of test tasks (1 here) are never used"));
  EXPECT_FALSE(fs::exists(PathOf(".jsonl")));
}

TEST_P(PathCollect, BadFilesAreNamedAndLeftAlone) {
  Search();
  const fs::path trees = folder_.path() / "mcts_result" / task() / "planner";
  const std::string whole = ReadFile(trees / "search_results_33.json");
  const std::string cut = whole.substr(0, whole.size() / 2);
  WriteFileAtomically(trees / "search_results_33.json", cut);
  WriteFileAtomically(trees / "search_results_35.json", "[1, 2, 3]");
  WriteFileAtomically(trees / "search_results_36.json", "");
  fs::remove(trees / "search_results_37.json");
  ASSERT_EQ(::mkfifo((trees / "search_results_37.json").c_str(), 0600), 0);
  const Outcome outcome = Run({});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("8 read, 4 bad files"), HasSubstr("search_results_33.json"),
                    HasSubstr("search_results_35.json"), HasSubstr("search_results_36.json"),
                    HasSubstr("search_results_37.json: it is a pipe or a device")));
  EXPECT_GT(ReadRows(PathOf(".jsonl")).size(), 0U);
  EXPECT_EQ(ReadFile(trees / "search_results_33.json"), cut);
}

// Kills the run again and again: after ever more of its calls, then as soon as it writes.
TEST_P(PathCollect, KilledAtAnyMomentItGoesOnToTheSameFiles) {
  Search({}, "91");
  const auto files = [&](const std::string& output_dir) {
    std::map<std::string, std::string> contents;
    for (const char* suffix : {".jsonl", ".messages.jsonl", ".provenance.jsonl"}) {
      const fs::path path = PathOf(suffix, "centric", output_dir);
      if (fs::exists(path)) contents[suffix] = ReadFile(path);
    }
    return contents;
  };
  const auto written = [&] {
    return std::pair(files("path_result"), TemporaryFiles(folder_.path()));
  };
  const auto server = StartServer(task());
  FaultProxy proxy(server->base_url(), {}, 0);
  const Arguments line = {"--env_server_base", proxy.url()};
  ASSERT_EQ(Run({"--env_server_base", proxy.url(), "--output_dir", "undisturbed"}).exit, 0);
  const auto expected = files("undisturbed");
  ASSERT_EQ(expected.size(), 3U);
  const uint64_t all = proxy.calls();
  for (uint64_t killed = 0; killed < 9; ++killed) {
    if (files("path_result").size() == 3) fs::remove_all(folder_.path() / "path_result");
    const auto before = written();
    // The first six together make fewer calls than one whole run.
    proxy.HoldAfter(killed < 6 ? all * killed / 20 : 100 * all);
    Program program("path_collect", line, folder_.path());
    if (killed < 6) {
      ASSERT_TRUE(proxy.AwaitHeld([&] { return program.Running(); }))
          << killed << " of " << all << ": " << program.Wait().err;
    } else {
      program.WaitUntil([&] { return written() != before; });
    }
    program.Signal(SIGKILL);
    program.Wait();
    for (const auto& [suffix, text] : files("path_result")) {
      ASSERT_EQ(text, expected.at(suffix)) << "half-written after kill " << killed;
    }
  }
  proxy.HoldAfter(100 * all);
  EXPECT_EQ(Run(line).exit, 0);
  EXPECT_EQ(files("path_result"), expected);
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());
}

TEST_P(PathCollect, TheActorIsAskedAndItsAnswersAreRemembered) {
  Search();
  ScriptedJudge judge;
  const Arguments line = {"--verifier",    "actor", "--llm_base",  judge.url(),
                          "--judge_ahead", "2",     "--llm_price", "1000000:0"};
  const Outcome outcome = Run(line);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_GT(judge.questions, 0);
  EXPECT_EQ(judge.strange, 0);
  EXPECT_THAT(outcome.out, HasSubstr("judgements"));
  const nlohmann::json model = RunFile()["model"];
  EXPECT_EQ(model["requests"].get<int>(), judge.questions);
  EXPECT_EQ(model["cost"].get<double>(), 10 * judge.questions) << "1 for a token of a prompt";
  EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} requests, ", judge.questions.load())));
  const std::string rows = ReadFile(PathOf(".jsonl"));
  EXPECT_THAT(rows, HasSubstr("It is of no use."));
  const int questions = judge.questions;
  EXPECT_EQ(Run(line).exit, 0);
  EXPECT_EQ(judge.questions, questions);
  EXPECT_EQ(ReadFile(PathOf(".jsonl")), rows);
}

TEST_P(PathCollect, AnInterruptEndsItInGoodOrderAndItGoesOn) {
  Search();
  ScriptedJudge judge;
  judge.delay_ms = 20;
  const Arguments line = {"--verifier",        "actor", "--llm_base", judge.url(),
                          "--tasks_in_flight", "1"};
  Program program("path_collect", line, folder_.path());
  program.WaitUntil([&] { return judge.questions >= 5; });
  program.Signal(SIGINT);
  const Outcome outcome = program.Wait();
  EXPECT_EQ(outcome.exit, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Run the same command again"));
  EXPECT_FALSE(fs::exists(PathOf(".jsonl")));
  judge.delay_ms = 0;
  EXPECT_EQ(Run(line).exit, 0);
  EXPECT_GT(ReadRows(PathOf(".jsonl")).size(), 0U);
}

TEST_P(PathCollect, WithoutAnEnvironmentWhatIsThereStays) {
  Search();
  ASSERT_EQ(Run({}).exit, 0);
  const std::string verified = ReadFile(PathOf(".messages.jsonl"));
  const Arguments none = {"--env_server_base", "http://127.0.0.1:9", "--env_attempts", "1"};
  const Outcome outcome = Run(none);
  EXPECT_EQ(outcome.exit, 4);
  EXPECT_THAT(outcome.err, HasSubstr("--replay 0 writes unchecked rows"));
  EXPECT_EQ(ReadFile(PathOf(".messages.jsonl")), verified);
}

TEST_P(PathCollect, FewerOrLessCheckedRowsReplaceNothingUnlessAskedTo) {
  Search();
  ASSERT_EQ(Run({}).exit, 0);
  const auto files = [&] {
    std::string text;
    for (const char* suffix :
         {".jsonl", ".messages.jsonl", ".provenance.jsonl", ".run.json", ".toml"}) {
      text += ReadFile(PathOf(suffix));
    }
    return text;
  };
  const std::string before = files();
  const Outcome unchecked = Run({"--replay", "0"});
  EXPECT_EQ(unchecked.exit, 2);
  EXPECT_THAT(unchecked.err,
              AllOf(HasSubstr("_centric.jsonl was kept"), HasSubstr("0 of them verified"),
                    HasSubstr("--replay \"auto\" there, \"0\" now"), HasSubstr("--overwrite 1"),
                    HasSubstr("--output_dir")));
  EXPECT_EQ(files(), before);
  const Outcome fewer = Run({"--max", "36"});
  EXPECT_EQ(fewer.exit, 2);
  EXPECT_THAT(fewer.err, HasSubstr("--max 1000000000 there, 36 now"));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(Run({}).exit, 0) << "the same again";
  EXPECT_THAT(TemporaryFiles(folder_.path()), IsEmpty());

  EXPECT_EQ(Run({"--replay", "0", "--overwrite", "1"}).exit, 0);
  EXPECT_EQ(ReadRows(PathOf(".messages.jsonl")).at(0)["provenance"]["replay"], "unchecked");
  EXPECT_THAT(ReadFile(PathOf(".toml")), Not(HasSubstr("overwrite")));
  EXPECT_EQ(Run({}).exit, 0) << "better ones";
  EXPECT_EQ(RunFile()["verified"], RunFile()["rows"]);
}

TEST_P(PathCollect, WithoutAPairItSaysWhatTheBestRewardWas) {
  Search({"--model_name", "random", "--max_depth", "1"}, "36");
  const Outcome outcome = Run({"--alpha", "1"});
  EXPECT_EQ(outcome.exit, 1) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("no rows; the best reward of "));
}

TEST_P(PathCollect, AnEmptyRangeReplacesNothing) {
  Search();
  ASSERT_EQ(Run({}).exit, 0);
  const std::string before = ReadFile(PathOf(".jsonl"));
  const Outcome outcome = Run({"--min", "5", "--max", "2"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--min 5 is not below --max 2"));
  EXPECT_EQ(ReadFile(PathOf(".jsonl")), before);
}

TEST_P(PathCollect, VariablesOfAgentRAndSavedOptionsWork) {
  Search();
  ASSERT_EQ(Run({"--output_dir", "first"}, {{"ALPHA", "1.0"}, {"BETA", "0.3"}}).exit, 0);
  const auto rows = ReadRows(PathOf(".provenance.jsonl", "centric", "first"));
  ASSERT_GT(rows.size(), 0U);
  EXPECT_EQ(rows[0]["alpha"], 1.0);
  EXPECT_EQ(rows[0]["beta"], 0.3);
  EXPECT_EQ(rows[0]["rewards"]["good"], 1.0);
  ASSERT_EQ(
      Run({"--config", PathOf(".toml", "centric", "first").string(), "--output_dir", "second"})
          .exit,
      0);
  EXPECT_EQ(ReadFile(PathOf(".jsonl", "centric", "second")),
            ReadFile(PathOf(".jsonl", "centric", "first")));
}

TEST_P(PathCollect, RowsDoNotDependOnParallelism) {
  Search();
  ASSERT_EQ(Run({"--tasks_in_flight", "1", "--output_dir", "one"}).exit, 0);
  ASSERT_EQ(Run({"--tasks_in_flight", "8", "--output_dir", "eight"}).exit, 0);
  EXPECT_EQ(ReadFile(PathOf(".jsonl", "centric", "one")),
            ReadFile(PathOf(".jsonl", "centric", "eight")));
  ASSERT_EQ(Run({"--seed", "1", "--output_dir", "other"}).exit, 0);
  EXPECT_NE(ReadFile(PathOf(".jsonl", "centric", "one")),
            ReadFile(PathOf(".jsonl", "centric", "other")));
}

TEST_P(PathCollect, ShowPrintsRows) {
  Search();
  const Outcome outcome = Run({"--show", "2"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("row 1\n"), HasSubstr("row 2\n"), HasSubstr("\n- "),
                                 HasSubstr("\n~ "), HasSubstr("\n+ ")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("row 3\n")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b["))) << "not a terminal";
}

TEST(PathCollectErrors, SaysWhatIsWrongAndWhatHelps) {
  const ScratchFolder folder;
  const auto run = [&](const Arguments& arguments) {
    return RunProgram("path_collect", arguments, folder.path());
  };
  const Outcome none = run({});
  EXPECT_EQ(none.exit, 3);
  EXPECT_THAT(none.err, HasSubstr("mcts_collect"));
  EXPECT_EQ(run({"--pairing", "cousins"}).exit, 2);
  EXPECT_EQ(run({"--alpha", "high"}).exit, 2);

  ASSERT_EQ(RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "33"},
                       folder.path())
                .exit,
            0);
  const Outcome actor = run({"--verifier", "actor"});
  EXPECT_EQ(actor.exit, 2);
  EXPECT_THAT(actor.err, AllOf(HasSubstr("--llm_base"), HasSubstr("--model_dir")));
  const Outcome thoughts = run({"--thoughts", "none.txt"});
  EXPECT_EQ(thoughts.exit, 3);
  EXPECT_THAT(thoughts.err, HasSubstr("none.txt"));
  const Outcome output = run({"--output_dir", "/proc/none"});
  EXPECT_EQ(output.exit, 3);
  EXPECT_THAT(output.err, HasSubstr("/proc/none"));
}

TEST(PathCollectErrors, ThoughtsOfAFileAreUsed) {
  const ScratchFolder folder;
  ASSERT_EQ(RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "35"},
                       folder.path())
                .exit,
            0);
  WriteFileAtomically(folder.path() / "mine.txt", "# mine\nOops, my bad.\n");
  ASSERT_EQ(RunProgram("path_collect",
                       {"--thoughts", "mine.txt", "--revision_action", "stop", "--revision_reply",
                        "go on.", "--replay", "0"},
                       folder.path())
                .exit,
            0);
  const std::string rows = ReadFile(folder.path() / "path_result/textcraft_centric.jsonl");
  EXPECT_THAT(rows, HasSubstr(R"(Thought: Oops, my bad.\nAction: stop)"));
  EXPECT_THAT(rows, HasSubstr(R"("go on.")"));
}

// An action that the environment carried out did work, however wrong it was.
TEST(PathCollectThoughts, TheShortOnesDoNotDenyWhatWorked) {
  const ScratchFolder folder;
  ASSERT_EQ(RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "61"},
                       folder.path())
                .exit,
            0);
  ASSERT_EQ(RunProgram("path_collect",
                       {"--thoughts", AGENTR_SOURCE_DIR "/configs/revision/short_thoughts.txt"},
                       folder.path())
                .exit,
            0);
  std::map<bool, std::set<std::string>> thoughts;  // by whether the action was carried out
  std::istringstream rows(ReadFile(folder.path() / "path_result/textcraft_centric.messages.jsonl"));
  for (std::string row; std::getline(rows, row);) {
    const nlohmann::json messages = nlohmann::json::parse(row)["messages"];
    for (size_t i = 2; i < messages.size(); ++i) {
      const std::string reply = messages[i - 1]["content"], said = messages[i]["content"];
      if (messages[i]["role"] != "assistant" || !said.ends_with("Action: wait")) continue;
      const bool carried_out = reply.starts_with("Got ") || reply.starts_with("Crafted ");
      thoughts[carried_out].insert(said.substr(0, said.find('\n')));
    }
  }
  EXPECT_THAT(thoughts[false], ElementsAre("Thought: That did not work."));
  EXPECT_THAT(thoughts[true], ElementsAre("Thought: That was wrong."));
}

}  // namespace
}  // namespace agentr
