// Models that think: thoughts, limits and stop texts from the search to the training, over HTTP and
// in the process.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "mcts/tree_file.h"
#include "tests/cli/program.h"
#include "tests/clients/http/local_server.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
// A server whose model looks into its inventory first, and later only thinks until its limit.
class ThinkingServer {
 public:
  ThinkingServer() {
    server_->Post("/v1/chat/completions",
                  [this](const httplib::Request& request, httplib::Response& reply) {
                    reply.set_content(Answer(json::parse(request.body)).dump(), "application/json");
                  });
    server_.Start();
  }
  std::string url() const { return server_.url() + "/v1"; }

  // The last request.
  json last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  json Answer(const json& body) {
    const std::lock_guard lock(mutex_);
    last_ = body;
    const bool first = body["messages"].size() < 4;
    json choices = json::array();
    for (int i = 0; i < body.value("n", 1); ++i) {
      choices.push_back(
          {{"index", i},
           {"message",
            {{"role", "assistant"},
             {"content", first ? json("Action: inventory") : json()},
             {"reasoning_content", first ? "What do I have? Action: look" : "I could go on and"}}},
           {"finish_reason", first ? "stop" : "length"}});
    }
    return {{"choices", choices}, {"usage", {{"prompt_tokens", 9}, {"completion_tokens", 3}}}};
  }

  LocalServer server_;
  mutable std::mutex mutex_;
  json last_;  // guarded by mutex_
};

class ThinkingModels : public ::testing::Test {
 protected:
  Outcome Run(const std::string& program, const Arguments& arguments) {
    return RunProgram(program, arguments, folder_.path());
  }
  json Json(const std::string& path) const { return json::parse(ReadFile(folder_.path() / path)); }

  // A model of random weights with a tokenizer of Qwen and a chat template that leaves out the
  // thoughts of earlier turns (scripts/golden/thinking_template.py).
  void WriteModel() const {
    const fs::path folder = folder_.path() / "thinker";
    auto golden = json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/tokenizers/qwen2.json"));
    const auto chat =
        json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/thinking_template.json"));
    golden["tokenizer_config"]["chat_template"] = chat.at("template");
    WriteTinyModel(folder, golden, 1024);
  }

  ScratchFolder folder_;
};

TEST_F(ThinkingModels, ASearchOverHttpKeepsThoughtsAndExecutesNoCutTurn) {
  ThinkingServer server;
  const Outcome outcome = Run(
      "mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "32", "--n_gen", "2",
                       "--llm_base", server.url(), "--model_name", "m", "--thinking", "keep",
                       "--stop", "Observation:", "--chat_kwargs", R"({"enable_thinking": true})"});
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const json request = server.last();
  EXPECT_EQ(request["stop"].dump(), R"(["Observation:"])");
  EXPECT_EQ(request["chat_template_kwargs"].dump(), R"({"enable_thinking":true})");
  EXPECT_EQ(request["messages"][3]["reasoning_content"], "What do I have? Action: look");
  const std::string file = "mcts_result/textcraft/m/search_results_31.json";
  const Tree tree = ReadTree(ReadFile(folder_.path() / file), file);
  ASSERT_EQ(tree.size(), 2);
  EXPECT_EQ(tree.node(1).action, "inventory");
  EXPECT_EQ(tree.node(1).reasoning, "What do I have? Action: look");
  EXPECT_EQ(tree.node(1).end, End::kCut);
  EXPECT_EQ(tree.node(1).cut_turns, 2);
  EXPECT_THAT(outcome.out, HasSubstr("2 responses were cut"));
  EXPECT_THAT(outcome.err, HasSubstr("--max_new_tokens"));
  const json run = Json("mcts_result/textcraft/m/run.json")["runs"][0];
  EXPECT_EQ(run["result"]["cut_turns"], 2);
  EXPECT_THAT(tree.origin().model_identity, HasSubstr(R"({"enable_thinking":true})"));
}

// Every second answer is broken off, in one of the ways that servers have for it.
TEST_F(ThinkingModels, ASearchIsTheOneWithoutTheFaultsOfItsServer) {
  std::atomic<int> asked = 0;
  std::atomic<bool> faulty = false;
  LocalServer server;
  server->Post("/v1/chat/completions", [&](const auto& request, auto& reply) {
    const json body = json::parse(request.body);
    const int number = asked++;
    json choices = json::array();
    for (int i = 0; i < body.value("n", 1); ++i) {
      const std::string word = std::to_string(body["seed"].get<int64_t>() % 7 + i);
      choices.push_back({{"message", {{"content", "Thought: so.\nAction: get " + word + " log"}}},
                         {"finish_reason", "stop"}});
    }
    json answer = {{"choices", choices},
                   {"usage", {{"prompt_tokens", 9}, {"completion_tokens", 3}}}};
    if (faulty && number % 2 == 0) {
      json& choice = answer["choices"][0];
      choice["message"]["content"] = "Thought: half a";
      if (number % 6 == 0) choice["finish_reason"] = "abort";
      if (number % 6 == 2) choice["error"] = {{"message", "lost"}};
      if (number % 6 == 4) answer["error"] = {{"message", "lost"}};
    }
    reply.set_content(answer.dump(), "application/json");
  });
  server.Start();
  const auto tree = [&](const std::string& name) {
    const Arguments search = Words(
        "--task textcraft --min 31 --max 32 --n_gen 2 --max_depth 3 --iterations 4 "
        "--trees_in_flight 1 --model_name m");
    EXPECT_THAT(Run("mcts_collect",
                    search + Arguments{"--llm_base", server.url() + "/v1", "--output_dir", name}),
                Exits(0));
    const json run = Json(name + "/textcraft/m/run.json")["runs"][0];
    EXPECT_EQ(run["result"]["model"]["retries"] != 0, faulty) << run["result"].dump();
    json file = Json(name + "/textcraft/m/search_results_31.json");
    return file["nodes"];
  };
  const json sound = tree("sound");
  faulty = true;
  EXPECT_EQ(tree("faulty"), sound);
  EXPECT_GT(sound.size(), 2U);
}

TEST_F(ThinkingModels, AnEvaluationEndsAtACutTurn) {
  ThinkingServer server;
  const Arguments arguments =
      Words("--task textcraft --min 0 --max 1 --model_name m --llm_base") + Arguments{server.url()};
  const Outcome outcome = Run("agent_eval", arguments);
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_FALSE(server.last()["messages"][3].contains("reasoning_content")) << "by default";
  const json summary = Json("test_result/textcraft/m_server/summary.json");
  EXPECT_EQ(summary["ends"]["cut_turn"], 1);
  EXPECT_EQ(summary["complete"], true);
  EXPECT_EQ(summary["steps"], 1);
  const json episode = Json("test_result/textcraft/m_server/search_results_0.json");
  EXPECT_EQ(episode["end"], "cut_turn");
  EXPECT_FALSE(episode["options"].contains("thinking")) << "at its default";
  EXPECT_FALSE(episode["options"].contains("stop"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cut_turn 1"), HasSubstr("1 responses were cut")));
  const Outcome refused = Run("agent_eval", arguments + Words("--thinking strip"));
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("thinking"));
}

TEST_F(ThinkingModels, TheModelInTheProcessSearchesWithItsTemplate) {
  WriteModel();
  const Arguments common = Words(
      "--task textcraft --min 31 --max 32 --n_gen 2 --iterations 1 --max_new_tokens 12 "
      "--model_dir thinker --output_dir");
  const auto identity = [&](const std::string& output, const Arguments& more) {
    EXPECT_THAT(Run("mcts_collect", common + Arguments{output} + more), Exits(0));
    const std::string file = output + "/textcraft/thinker/search_results_31.json";
    return ReadTree(ReadFile(folder_.path() / file), file).origin().model_identity;
  };
  const std::string off = R"({"enable_thinking": false})";
  const std::string plain = identity("a", {});
  EXPECT_EQ(identity("b", {"--stop", "Observation:", "--thinking", "strip_history"}), plain);
  EXPECT_NE(identity("c", {"--chat_kwargs", off}), plain);
  const Outcome bad = Run("mcts_collect", {"--task", "textcraft", "--chat_kwargs", "[1]"});
  EXPECT_EQ(bad.exit, 2);
  EXPECT_THAT(bad.err, HasSubstr("--chat_kwargs"));
}

// The trees of a scripted policy, whose turns get thoughts, with an action in them.
TEST_F(ThinkingModels, ThoughtsGoFromTheTreesIntoTheTraining) {
  WriteModel();
  const Outcome search = Run("mcts_collect", {"--task", "textcraft", "--min", "31", "--max", "36",
                                              "--planner_error_rate", "0.3"});
  ASSERT_EQ(search.exit, 0) << search.err;
  for (const auto& [name, text] : TreeFiles(folder_.path() / "mcts_result")) {
    json tree = json::parse(text);
    for (json& node : tree["nodes"]) {
      if (!node.contains("response")) continue;
      node["response"] =
          "<think>\nAction: none yet\n</think>\n\n" + node["response"].get<std::string>();
    }
    WriteFileAtomically(folder_.path() / "mcts_result/textcraft/planner" / name, tree.dump());
  }
  const Outcome revised = Run(
      "path_collect", {"--task", "textcraft", "--format", "messages", "--revision_thinking", "1"});
  ASSERT_EQ(revised.exit, 0) << revised.err << revised.out;
  const std::string rows =
      (folder_.path() / "path_result/textcraft_centric.messages.jsonl").string();
  int revisions = 0, trained = 0;
  for (const json& row : ReadRows(rows)) {
    for (const json& message : row["messages"]) {
      if (message["role"] != "assistant" || !message["loss"].get<bool>()) continue;
      const std::string content = message["content"];
      EXPECT_THAT(content, ::testing::StartsWith("<think>\n"));
      ++trained;
      revisions += content.ends_with("Action: wait");
    }
  }
  EXPECT_GT(revisions, 0);
  EXPECT_GT(trained, 2 * revisions);

  const Arguments train =
      Words("--model_dir thinker --held_out 0 --name t --batch_rows 2 --data") + Arguments{rows};
  const auto with = [&](const Arguments& more) { return Run("agent_train", train + more); };
  const Outcome whole = with({"--inspect", "1"});
  ASSERT_EQ(whole.exit, 0) << whole.err;
  EXPECT_THAT(whole.out, AllOf(HasSubstr("in turns that the template rewrites"),
                               HasSubstr("nothing was trained: --inspect only shows rows")));
  const Outcome each = with({"--inspect", "1", "--each_turn", "1"});
  ASSERT_EQ(each.exit, 0) << each.err;
  // Each trained turn has its own thought, and only the last of a sequence has one.
  EXPECT_THAT(each.out, HasSubstr("⟦<think>\\n\n"));
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count(whole.out, "<think>"), 1U) << whole.out;
  EXPECT_GT(count(each.out, "<think>"), 1U);
  EXPECT_EQ(count(each.out, "<think>"), count(each.out, "⟦<think>"));

  for (const char* each_turn : {"0", "1"}) {
    const Outcome steps = with({"--max_steps", "2", "--each_turn", each_turn, "--output_dir",
                                std::string("trained") + each_turn});
    ASSERT_EQ(steps.exit, 0) << steps.err;
    EXPECT_THAT(steps.err, AllOf(HasSubstr("the chat template writes trained turns otherwise"),
                                 HasSubstr("--each_turn 1")));
    const json run = Json(fmt::format("trained{}/t/run.json", each_turn))["runs"].back();
    EXPECT_GT(run["rows_rewritten"], 0);
    EXPECT_GT(run["rewritten_tokens"], run["rows_rewritten"]);
  }
}

}  // namespace
}  // namespace agentr
