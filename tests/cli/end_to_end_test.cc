// mcts_collect with a model server and an environment server of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/file.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/cli/program.h"
#include "tests/clients/http/local_server.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// An OpenAI-compatible server whose model is the planner.
class PlannerServer {
 public:
  PlannerServer() : planner_(MakeScriptedModel("planner", *family_, {})) {
    server_->Post("/v1/chat/completions", [this](const auto& request, auto& response) {
      response.set_content(Reply(nlohmann::json::parse(request.body)).dump(), "application/json");
      last_authorization_ok_ = request.get_header_value("Authorization") == "Bearer test-key";
    });
    server_.Start();
  }

  std::string base() const { return server_.url() + "/v1"; }
  bool last_authorization_ok() const { return last_authorization_ok_; }

 private:
  nlohmann::json Reply(const nlohmann::json& request) const {
    std::vector<Message> prompt;
    for (const auto& m : request.at("messages")) prompt.push_back({m["role"], m["content"]});
    SamplingParams sampling;
    sampling.seed = request.at("seed");
    const CompletionBatch batch = planner_->Complete(prompt, request.at("n"), sampling).value();
    nlohmann::json choices = nlohmann::json::array();
    for (const Completion& completion : batch.completions) {
      choices.push_back({{"index", choices.size()},
                         {"message", {{"role", "assistant"}, {"content", completion.text}}},
                         {"finish_reason", "stop"}});
    }
    return {{"object", "chat.completion"},
            {"model", request.at("model")},
            {"choices", choices},
            {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 5}, {"total_tokens", 12}}}};
  }

  std::unique_ptr<TaskFamily> family_ = MakeTaskFamily("textcraft");
  std::unique_ptr<LanguageModel> planner_;
  std::atomic<bool> last_authorization_ok_ = false;
  LocalServer server_;
};

// A model server whose reply never ends.
class EndlessServer {
 public:
  EndlessServer() {
    server_->Post("/v1/chat/completions", [this](const auto&, auto& response) {
      asked_ = true;
      response.set_chunked_content_provider("application/json", [this](size_t, auto& sink) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return !ended_ && sink.write(" ", 1);
      });
    });
    server_.Start();
  }
  ~EndlessServer() { ended_ = true; }

  std::string base() const { return server_.url() + "/v1"; }
  bool asked() const { return asked_; }

 private:
  std::atomic<bool> asked_ = false;
  std::atomic<bool> ended_ = false;
  LocalServer server_;
};

TEST(EndToEnd, AMistypedCommandOrProgramIsNamed) {
  const ScratchFolder folder;
  for (const auto& [typed, meant] : {std::pair("colect", "collect"),
                                     {"mcts-colect", "mcts_collect"},
                                     {"env_chek", "env-check"}}) {
    const Outcome outcome = RunProgram("agentr", {typed}, folder.path());
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_THAT(outcome.err, HasSubstr(std::string("did you mean ") + meant + "?"));
  }
}

// One signal is enough while a reply is being read.
TEST(EndToEnd, OneSignalEndsAProgramThatReadsAnEndlessReply) {
  for (const char* name : {"mcts_collect", "agent_eval"}) {
    for (const int signal : {SIGTERM, SIGINT}) {
      const EndlessServer model;
      const ScratchFolder folder;
      Program program(
          name,
          {"--task", "textcraft", "--max", "40", "--model_name", "m", "--llm_base", model.base()},
          folder.path());
      program.WaitUntil([&] { return model.asked(); });
      program.Signal(signal);
      const Outcome outcome = program.Wait();
      EXPECT_EQ(outcome.exit, 130) << name << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("stopped")) << name;
      EXPECT_THAT(TemporaryFiles(folder.path()), SizeIs(0));
    }
  }
}

TEST(MctsCollectEndToEnd, SearchesWithAModelServerAndAnEnvironmentServer) {
  const PlannerServer model;
  const ScratchFolder folder;
  Program env_server("env_server", {"--task", "textcraft", "--port", "0"}, folder.path());
  const Arguments arguments =
      Words("--task textcraft --min 31 --max 37 --model_name org/some-model") +
      Arguments{"--llm_base", model.base(), "--env_server_base", env_server.WaitForUrl()};

  const auto trees = [&](const std::string& in_flight) {
    const ScratchFolder run;
    EXPECT_THAT(RunProgram("mcts_collect", arguments + Arguments{"--trees_in_flight", in_flight},
                           run.path(), {{"OPENAI_API_KEY", "test-key"}}),
                Exits(0));
    const std::string run_file =
        ReadFile(run.path() / "mcts_result/textcraft/org_some-model/run.json");
    const auto result = nlohmann::json::parse(run_file)["runs"][0]["result"];
    EXPECT_GT(result["model"]["requests"], 0);
    EXPECT_EQ(result["model"]["prompt_tokens"], 7 * result["model"]["requests"].get<int>());
    EXPECT_THAT(run_file, ::testing::Not(HasSubstr("test-key")));
    return TreeFiles(run.path());
  };
  const auto one_at_a_time = trees("1");
  EXPECT_THAT(one_at_a_time, SizeIs(6));
  EXPECT_EQ(trees("6"), one_at_a_time);
  EXPECT_TRUE(model.last_authorization_ok());

  env_server.Signal(SIGTERM);
  EXPECT_EQ(env_server.Wait().exit, 0);
}

TEST(MctsCollectEndToEnd, AServerThatDiesIsReportedAndTheRestIsDoneNextTime) {
  const ScratchFolder folder;
  const Arguments line = Words(
      "--task textcraft --min 31 --max 71 --trees_in_flight 4 --model_delay_ms 3 "
      "--env_attempts 2 --give_up_after 5 --env_server_base");
  std::string url;
  {
    Program env_server("env_server", {"--task", "textcraft", "--port", "0"}, folder.path());
    url = env_server.WaitForUrl();
    Program run("mcts_collect", line + Arguments{url}, folder.path());
    run.WaitUntil([&] { return TreeFiles(folder.path()).size() >= 3; });
    env_server.Signal(SIGKILL);
    const Outcome outcome = run.Wait();
    EXPECT_EQ(outcome.exit, 4) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("unreachable"));
    EXPECT_THAT(outcome.out, HasSubstr("Run the same command again"));
  }
  const size_t before = TreeFiles(folder.path()).size();
  EXPECT_GE(before, 3U);
  EXPECT_LT(before, 40U);
  const std::string port = url.substr(url.rfind(':') + 1);
  Program env_server("env_server", {"--task", "textcraft", "--port", port}, folder.path());
  env_server.WaitForUrl();
  const Outcome outcome = RunProgram("mcts_collect", line + Arguments{url}, folder.path());
  EXPECT_EQ(outcome.exit, 0) << outcome.out << outcome.err;
  EXPECT_EQ(TreeFiles(folder.path()).size(), 40U);
}

}  // namespace
}  // namespace agentr
