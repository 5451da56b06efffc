// The same id is the same task everywhere: two servers that differ in all that should not matter
// answer a recorded session of 200 tasks alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "clients/http/http_client.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/cli/program.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

// One server and one session on it, over plain HTTP.
class Shop {
 public:
  Shop(const ScratchFolder& folder, const std::vector<std::string>& arguments)
      : program_("env_server", arguments, folder.path()) {
    client_ = std::make_unique<HttpClient>(program_.WaitForUrl(), HttpOptions{},
                                           std::make_shared<CallStats>());
  }

  std::string Post(const std::string& path, const Json& body) {
    return client_->Post(path, body.dump(), /*repeatable=*/false).value().body;
  }
  std::string Get(const std::string& path) { return client_->Get(path).value().body; }

  void Open() { id_ = Json::parse(Post("/create", Json::object())).get<int>(); }
  std::string Reset(int task_id) {
    return Post("/reset", {{"env_idx", id_}, {"session_id", task_id}});
  }
  std::string Step(const std::string& action) {
    return Post("/step", {{"env_idx", id_}, {"action", action}});
  }
  std::string About(const std::string& what) {
    return Get("/" + what + "?env_idx=" + std::to_string(id_));
  }

 private:
  Program program_;
  std::unique_ptr<HttpClient> client_;
  int id_ = 0;
};

TEST(WebShopReplies, AreTheSameOnEveryServer) {
  const ScratchFolder one_folder;
  const ScratchFolder other_folder;
  Shop one(one_folder, {"--task", "webshop", "--port", "0"});
  Shop other(other_folder,
             {"--task", "webshop", "--port", "0", "--threads", "7", "--max_sessions", "50"});
  one.Open();
  // The other one has served others before, and has other numbers for its sessions.
  for (int i = 0; i < 5; ++i) other.Open();
  for (int task_id = 300; task_id < 320; ++task_id) {
    other.Reset(task_id);
    other.Step("search[gift]");
  }
  EXPECT_EQ(one.Get("/version"), other.Get("/version"));

  const auto family = MakeTaskFamily("webshop");
  const auto model = MakeScriptedModel("planner", *family, {.error_rate = 0.3, .delay_ms = 0});
  int purchases = 0;
  for (int task_id = 0; task_id < 200; ++task_id) {
    std::string reply = one.Reset(task_id);
    ASSERT_EQ(reply, other.Reset(task_id)) << "task " << task_id;
    std::vector<Message> conversation = family->Instruction();
    conversation.push_back({"user", Json::parse(reply)[0]});
    for (int turn = 0; turn < 12; ++turn) {
      SamplingParams sampling;
      sampling.seed = static_cast<uint64_t>(task_id * 100 + turn);
      const auto batch = model->Complete(conversation, 1, sampling).value();
      const std::string action = family->ParseAction(batch.completions.front().text);
      reply = one.Step(action);
      ASSERT_EQ(reply, other.Step(action)) << "task " << task_id << ": " << action;
      ASSERT_EQ(one.About("available_actions"), other.About("available_actions"));
      ASSERT_EQ(one.About("instruction_text"), other.About("instruction_text"));
      const Json step = Json::parse(reply);
      conversation.push_back({"assistant", batch.completions.front().text});
      conversation.push_back({"user", step["state"]});
      if (!step["done"]) continue;
      ++purchases;
      break;
    }
  }
  EXPECT_GT(purchases, 100);
}

}  // namespace
}  // namespace agentr
