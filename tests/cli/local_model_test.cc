// mcts_collect and path_collect with a model in their process, and the same model behind lm_server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <httplib.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/hash.h"
#include "lm/model_folder.h"
#include "mcts/tree_file.h"
#include "tests/cli/program.h"
#include "tests/lm/tiny_adapter.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LocalModel : public ::testing::Test {
 protected:
  LocalModel() { WriteTinyModel(folder_.path() / "tiny-llama"); }

  Outcome Collect(const Arguments& more) const {
    const Arguments few =
        Words("--task textcraft --min 31 --max 34 --n_gen 2 --iterations 2 --max_new_tokens 12");
    return RunProgram("mcts_collect", few + more, folder_.path());
  }

  std::filesystem::path Results(const std::string& model) const {
    return folder_.path() / "mcts_result" / "textcraft" / model;
  }

  ScratchFolder folder_;
};

TEST_F(LocalModel, TheInstructionsThatItUsesAreNamedAndCanBeLowered) {
  const Outcome outcome = Collect({"--model_dir", "tiny-llama", "--simd", "portable"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const std::string first = outcome.err.substr(0, outcome.err.find('\n'));
  EXPECT_THAT(first, AllOf(HasSubstr("mcts_collect"), HasSubstr("instruction set portable (")));
  const auto run = nlohmann::json::parse(ReadFile(Results("tiny-llama") / "run.json"))["runs"][0];
  EXPECT_THAT(run["processor"].get<std::string>(), ::testing::StartsWith("portable ("));

  const Outcome none = Collect({"--model_dir", "tiny-llama", "--simd", "avx1024"});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("--simd"));
}

TEST_F(LocalModel, ASearchRunsToItsEnd) {
  const Outcome outcome = Collect({"--model_dir", "tiny-llama", "--max_context", "1600"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("from the cache"));
  const auto trees = TreeFiles(Results("tiny-llama"));
  ASSERT_THAT(trees, SizeIs(3));
  int most_dropped = 0;
  for (const auto& [name, text] : trees) {
    const Tree tree = ReadTree(text, name);
    for (size_t i = 1; i < tree.nodes().size(); ++i) {
      const Node& node = tree.nodes()[i];
      EXPECT_FALSE(node.token_ids.empty());
      EXPECT_THAT(node.logprobs, SizeIs(node.token_ids.size()));
      most_dropped = std::max(most_dropped, node.dropped_turns);
    }
  }
  EXPECT_GT(most_dropped, 0);
  const auto run = nlohmann::json::parse(ReadFile(Results("tiny-llama") / "run.json"))["runs"][0];
  const auto& model = run["result"]["model"];
  EXPECT_GT(model["cached_tokens"], model["prompt_tokens"].get<int64_t>() / 2);
  EXPECT_EQ(run["options"]["model_dir"], "tiny-llama");

  const std::string again = (Results("tiny-llama") / "resolved.toml").string();
  const Outcome second = RunProgram("mcts_collect", {"--config", again}, folder_.path());
  EXPECT_EQ(second.exit, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("0 trees written, 3 existed already"));
}

// Whole trees, to the byte: token ids, log-probabilities, cut prompts and the model's identity.
TEST_F(LocalModel, BehindAServerItWritesTheSameTrees) {
  const Arguments common = {"--max_context", "1600"};
  ASSERT_EQ(Collect(common + Words("--model_dir tiny-llama")).exit, 0);
  Program server("lm_server", {"--model_dir", "tiny-llama", "--port", "0"}, folder_.path());
  const Arguments served =
      common + Arguments{"--llm_base", server.WaitForUrl() + "/v1", "--model_name", "tiny-llama"};
  const Outcome outcome = Collect(served + Words("--output_dir remote"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const auto local = TreeFiles(Results("tiny-llama"));
  ASSERT_THAT(local, SizeIs(3));
  EXPECT_EQ(TreeFiles(folder_.path() / "remote"), local);
  int reused = 0;
  for (const auto& [name, text] : local) {
    for (const Node& node : ReadTree(text, name).nodes()) reused += node.parent > 0;
  }
  EXPECT_GT(reused, 0) << "turns whose prompt holds a sampled one";
  // They are of the same model, so one goes on where the other stopped.
  const Outcome same = Collect(served);
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("0 trees written, 3 existed already"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit, 0);
}

// The trees of a search with an adapter's folder are those of its name behind the server of its
// base.
TEST_F(LocalModel, AdaptersBehindAServerAreAsInTheProcess) {
  WriteTinyAdapter(folder_.path() / "one", "../tiny-llama");
  WriteTinyAdapter(folder_.path() / "two", "../nowhere", 32, 0.3f);
  Program server(
      "lm_server",
      {"--model_dir", "tiny-llama", "--port", "0", "--adapter", "a=one", "--adapter", "b=two"},
      folder_.path());
  const std::string base = server.WaitForUrl() + "/v1";
  ASSERT_EQ(Collect({"--model_dir", "one", "--model_name", "a"}).exit, 0);
  ASSERT_EQ(Collect({"--model_dir", "two", "--model_name", "b", "--base_model", "tiny-llama"}).exit,
            0);
  std::map<std::string, std::map<std::string, std::string>> trees;
  for (const char* name : {"tiny-llama", "a", "b"}) {
    const Outcome outcome = Collect(
        {"--llm_base", base, "--model_name", name, "--output_dir", std::string("remote_") + name});
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    trees[name] = TreeFiles(folder_.path() / (std::string("remote_") + name));
    ASSERT_THAT(trees[name], SizeIs(3));
  }
  EXPECT_EQ(trees["a"], TreeFiles(Results("a")));
  EXPECT_EQ(trees["b"], TreeFiles(Results("b")));
  EXPECT_NE(trees["a"], trees["b"]);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit, 0);
  for (const char* wrong : {"one", "=one", "a="}) {
    const Outcome outcome =
        RunProgram("lm_server", {"--model_dir", "tiny-llama", "--adapter", wrong}, folder_.path());
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_THAT(outcome.err, HasSubstr("is not NAME=DIR"));
  }
}

// Whoever reads a log must see how conversations were put into words.
TEST_F(LocalModel, StartLinesNameTheChatTemplate) {
  const auto start = [&](const Arguments& more) {
    Program server("lm_server", Words("--model_dir tiny-llama --port 0") + more, folder_.path());
    const httplib::Result reply =
        httplib::Client(server.WaitForUrl())
            .Post("/v1/tokenize", R"({"messages": [{"role": "user", "content": "hi"}]})",
                  "application/json");
    server.Signal(SIGTERM);
    return std::pair(server.Wait().err,
                     reply ? nlohmann::json::parse(reply->body)["tokens"] : nullptr);
  };
  const auto [own, tokens] = start({});
  EXPECT_THAT(own, HasSubstr("chat template: "));
  EXPECT_THAT(own, HasSubstr("a turn ends with <|eot_id|>"));
  const auto refused = [&](const Arguments& more) {
    return RunProgram("lm_server", Words("--model_dir tiny-llama --port 0") + more, folder_.path())
        .err;
  };
  EXPECT_THAT(refused({"--chat_template", "chatml"}), HasSubstr("choose one with --chat_template"));

  WriteFileAtomically(folder_.path() / "dated.jinja",
                      "{{ strftime_now('%d %b %Y') }}{% for m in messages %}{{ m.role }}: "
                      "{{ m.content }}<|eot_id|>{% endfor %}"
                      "{% if add_generation_prompt %}assistant: {% endif %}");
  const auto usual = start({"--chat_template", "dated.jinja"});
  const auto later = start({"--chat_template", "dated.jinja", "--chat_date", "2025-01-31"});
  EXPECT_THAT(usual.first, HasSubstr("dated.jinja"));
  EXPECT_NE(usual.second, later.second) << "other dates, other tokens";

  const Outcome search = Collect({"--model_dir", "tiny-llama", "--max_depth", "1"});
  EXPECT_THAT(search.err, HasSubstr("chat template: "));
  // Where nothing is recognised, there is a warning.
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/tokenizers/gpt2.json"));
  WriteFileAtomically(folder_.path() / "tiny-llama/tokenizer.json", golden["tokenizer"].dump());
  WriteFileAtomically(folder_.path() / "tiny-llama/tokenizer_config.json", "{}");
  EXPECT_THAT(refused({}),
              AllOf(HasSubstr(" W the model has no chat template"), HasSubstr("'### User:'")));
}

TEST_F(LocalModel, AServerThatIsDownEndsTheRunWithFour) {
  const Outcome outcome =
      Collect({"--llm_base", "http://127.0.0.1:1/v1", "--model_name", "m", "--llm_attempts", "2"});
  EXPECT_EQ(outcome.exit, 4);
  EXPECT_THAT(outcome.err, HasSubstr("the model's server http://127.0.0.1:1/v1 does not answer"));
}

TEST_F(LocalModel, RowsAreWrittenInItsTokens) {
  ASSERT_EQ(RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "36"},
                       folder_.path())
                .exit,
            0);
  const Outcome outcome = RunProgram(
      "path_collect", {"--model_dir", "tiny-llama", "--format", "tokens", "--format", "messages"},
      folder_.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const auto tokens = ReadRows(folder_.path() / "path_result/textcraft_centric.tokens.jsonl");
  const auto messages = ReadRows(folder_.path() / "path_result/textcraft_centric.messages.jsonl");
  ASSERT_GT(tokens.size(), 0U);
  ASSERT_EQ(tokens.size(), messages.size());
  const auto encoder = LoadChatEncoder(folder_.path() / "tiny-llama", "auto");
  EXPECT_EQ(encoder->tokenizer_hash(),
            Sha256(ReadFile(folder_.path() / "tiny-llama/tokenizer.json")));
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string trained;
    std::vector<int32_t> ids;
    const auto loss = tokens[i]["loss"].get<std::vector<int>>();
    for (size_t t = 0; t < loss.size(); ++t) {
      if (loss[t] == 1) ids.push_back(tokens[i]["ids"][t]);
    }
    for (const auto& message : messages[i]["messages"]) {
      if (message.value("weight", 0) == 1) trained += message["content"];
    }
    EXPECT_EQ(encoder->Decode(ids), trained);
    EXPECT_EQ(tokens[i]["tokenizer"], encoder->tokenizer_hash());
    EXPECT_EQ(tokens[i]["labels"].size(), tokens[i]["ids"].size());
  }
  EXPECT_NE(encoder->training_template(), "");
  EXPECT_EQ(ReadFile(folder_.path() / "path_result/textcraft_centric.chat_template.jinja"),
            encoder->training_template());
}

TEST_F(LocalModel, JudgesTheStepsOfPaths) {
  ASSERT_EQ(RunProgram("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "33"},
                       folder_.path())
                .exit,
            0);
  const auto judged = [&](const std::string& refusals) {
    const Outcome outcome =
        RunProgram("path_collect",
                   {"--model_dir", "tiny-llama", "--verifier", "actor", "--judge_max_new_tokens",
                    "8", "--max_context", "4096", "--judge_refusals", refusals, "--output_dir",
                    "judged" + refusals},
                   folder_.path());
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("Uncertain ("));
    return nlohmann::json::parse(
        ReadFile(folder_.path() / ("judged" + refusals) / "textcraft_centric.run.json"))["counts"];
  };
  const nlohmann::json asked = judged("1");
  EXPECT_GT(asked["unparsed"], 0) << "random weights say nothing that can be read";
  EXPECT_GT(asked["first_error_at"].value("none", 0), 0);
  const nlohmann::json known = judged("0");
  EXPECT_EQ(known["first_error_at"].value("none", 0), 0) << "each bad path has a refused step";
  EXPECT_LT(known["unparsed"], asked["unparsed"]);
}

TEST_F(LocalModel, AnotherModelOfTheSameNameIsNotTakenForIt) {
  const std::vector<std::string> play = {"--model_dir",      "tiny-llama", "--max",  "1",
                                         "--max_steps",      "1",          "--task", "textcraft",
                                         "--max_new_tokens", "4"};
  const std::vector<std::string> search = {"--model_dir", "tiny-llama", "--max_depth", "1"};
  ASSERT_EQ(Collect(search).exit, 0);
  ASSERT_EQ(RunProgram("agent_eval", play, folder_.path()).exit, 0);
  WriteTinyModel(folder_.path() / "tiny-llama", /*seed=*/2);
  const Outcome searched = Collect(search);
  EXPECT_EQ(searched.exit, 2);
  EXPECT_THAT(searched.err, HasSubstr("another model of the name tiny-llama"));
  const Outcome played = RunProgram("agent_eval", play, folder_.path());
  EXPECT_EQ(played.exit, 2);
  EXPECT_THAT(played.err, HasSubstr("model_identity"));
}

TEST_F(LocalModel, OneModelIsEnough) {
  const Outcome outcome =
      Collect({"--model_dir", "tiny-llama", "--llm_base", "http://127.0.0.1:1/v1"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("only one of the two"));
  const Outcome nameless = Collect({"--llm_base", "http://127.0.0.1:1/v1"});
  EXPECT_EQ(nameless.exit, 2);
  EXPECT_THAT(nameless.err, HasSubstr("--model_name"));
}

TEST_F(LocalModel, TheBundledModelIsFoundByItsNameAndJudgesItsOwnTrees) {
  const Outcome cut = Collect({"--model_name", "bundled"});
  EXPECT_EQ(cut.exit, 1) << "12 tokens do not reach the action of any response";
  EXPECT_THAT(cut.err, HasSubstr("raise --max_new_tokens"));
  const Outcome outcome =
      RunProgram("mcts_collect",
                 {"--task", "textcraft", "--model_name", "bundled", "--min", "31", "--max", "34",
                  "--n_gen", "2", "--iterations", "1", "--max_depth", "3", "--max_new_tokens",
                  "120", "--mix_options", "1"},
                 folder_.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(TreeFiles(Results("bundled")), SizeIs(3));
  EXPECT_THAT(outcome.err, HasSubstr("with model bundled"));
  const Outcome revised = RunProgram(
      "path_collect", {"--verifier", "actor", "--judge_max_new_tokens", "40"}, folder_.path());
  EXPECT_EQ(revised.exit, 0) << revised.err;
}

TEST_F(LocalModel, TheBundledModelFinishesSimpleTasks) {
  const Outcome outcome =
      RunProgram("agent_eval",
                 {"--task", "textcraft", "--model_name", "bundled", "--split", "train", "--max",
                  "10", "--max_steps", "10", "--max_new_tokens", "150"},
                 folder_.path());
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const auto summary = nlohmann::json::parse(
      ReadFile(folder_.path() / "test_result/textcraft/bundled_local/summary.json"));
  EXPECT_GE(summary["success"]["mean"].get<double>(), 0.3) << summary.dump(1);
}

TEST_F(LocalModel, AScriptedRunSaysHowToUseALanguageModel) {
  const Outcome outcome = Collect({});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("with model planner"));
  EXPECT_THAT(outcome.err, HasSubstr("--model_name bundled"));
}

}  // namespace
}  // namespace agentr
