#include "rollout/job.h"

#include <gmock/gmock.h>

#include "common/file.h"
#include "common/options.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/small_sciworld_server.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

// A small house and a scripted model.
class HouseWorkbench : public Workbench {
 public:
  explicit HouseWorkbench(bool extensions) : server_(extensions) {}

  std::unique_ptr<HttpEnvironment> OpenEnvironment(const EnvironmentOptions& options) override {
    return std::make_unique<HttpEnvironment>(MakeProtocol(options.task),
                                             std::vector<Secret>{server_.url()}, HttpOptions{});
  }
  std::unique_ptr<LanguageModel> OpenModel(const ModelOptions& options, const TaskFamily& family,
                                           const EnvironmentOptions&) override {
    return MakeScriptedModel(options.name, family, options.scripted);
  }
  std::unique_ptr<ChatEncoder> OpenEncoder(const std::string&) override { return nullptr; }

 private:
  SmallSciWorldServer server_;
};

struct HouseJob {
  explicit HouseJob(bool snaps, bool extensions = true) : workbench(extensions) {
    environment.task = "sciworld";
    model.name = "random";
    model.openai.limits.price = TokenPrice{.prompt = 0.5, .completion = 2};
    Declare(set, model);
    const char* const program = "program";
    set.Parse(1, &program);
    job.emplace("program", environment, model, snaps, set, workbench);
  }

  EnvironmentOptions environment;
  ModelOptions model;
  OptionSet set{"program", ""};
  HouseWorkbench workbench;
  std::optional<PlayJob> job;
};

TEST(PlayJob, KeepsItsOptionsAndItsRuns) {
  HouseJob house(/*snaps=*/true);
  const ScratchFolder folder;
  house.job->Begin(folder.path(), "playing 3 tasks", "a folder");
  EXPECT_EQ(ReadFile(folder.path() / "resolved.toml"), house.set.ResolvedToml());
  RunReport report;
  report.finished = 3;
  report.usage.prompt_tokens = 10;
  report.usage.completion_tokens = 4;
  for (const int turns : {7, 8}) {
    house.job->Record(folder.path(), "played", {{"seed", 1}}, report, {{"turns", turns}});
  }
  EXPECT_EQ(report.cost, 10 * 0.5 + 4 * 2);
  const auto runs = nlohmann::ordered_json::parse(ReadFile(folder.path() / "run.json"))["runs"];
  ASSERT_EQ(runs.size(), 2u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : runs[1].items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("program", "version", "compiler", "model_name", "played", "options",
                                "environment_server", "environment_http", "result", "processor"));
  EXPECT_EQ(runs[1]["program"], "program");
  EXPECT_EQ(runs[1]["played"]["seed"], 1);
  EXPECT_EQ(runs[1]["options"], house.set.ResolvedJson());
  EXPECT_EQ(runs[1]["result"]["finished"], 3);
  EXPECT_EQ(runs[1]["result"]["model"]["cost"], 13);
  EXPECT_EQ(runs[0]["result"]["turns"], 7);
  EXPECT_EQ(runs[1]["result"].back(), 8) << "details stand last";
}

TEST(PlayJob, RefusesToSnapWhereTheServerDoesNotTellActions) {
  EXPECT_NO_THROW(HouseJob(/*snaps=*/false, /*extensions=*/false));
  EXPECT_THROW(HouseJob(/*snaps=*/true, /*extensions=*/false), FatalError);
}

}  // namespace
}  // namespace agentr
