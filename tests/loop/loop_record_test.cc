#include "loop/loop_record.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "common/file.h"
#include "loop/loop_programs.h"
#include "loop/loop_table.h"
#include "tests/common/fatal_error.h"
#include "tests/common/json_damage.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

LoopStage Collect(const std::string& password) {
  LoopStage stage;
  stage.name = "iteration_1/collect";
  stage.program = "mcts_collect";
  stage.arguments = {"--max=3", "--store=postgresql://ann:" + password + "@db/x"};
  return stage;
}

TEST(LoopRecord, KeepsArgumentsWithoutPasswords) {
  const ScratchFolder folder;
  LoopRecord(folder.path()).Add(Collect("hunter2"), 1, {{"trees", 3}});
  EXPECT_THAT(ReadFile(folder / "loop.json"),
              AllOf(HasSubstr("--store=postgresql://ann:***@db/x"), Not(HasSubstr("hunter2"))));
  const LoopRecord record(folder.path());
  EXPECT_TRUE(record.Has(Collect("hunter2")));
  EXPECT_TRUE(record.Has(Collect("changed"))) << "another password is no other argument";
  LoopStage other = Collect("hunter2");
  other.arguments[0] = "--max=4";
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { record.Has(other); }),
              AllOf(HasSubstr("new are --max=4)"), Not(HasSubstr("hunter2"))));
}

TEST(LoopRecord, GoesOnOnlyWithItsModelOptions) {
  const nlohmann::ordered_json options = {{"dtype", "auto"}, {"chat_template", "chatml"}};
  const ScratchFolder folder;
  {
    LoopRecord record(folder.path());
    record.SetModelOptions(options);
    record.Add(Collect("a"), 1, {{"trees", 3}});
  }
  const auto go_on = [&](const nlohmann::ordered_json& with) {
    return FatalErrorOf(ExitCode::kUsage, [&] { LoopRecord(folder.path()).SetModelOptions(with); });
  };
  EXPECT_EQ(go_on(options), "");
  EXPECT_THAT(
      go_on({{"dtype", "float32"}, {"chat_template", "chatml"}}),
      AllOf(HasSubstr("--dtype \"auto\" there, \"float32\" now"), HasSubstr("another --name")));
  // Earlier versions did not write them down.
  const ScratchFolder earlier;
  LoopRecord(earlier.path()).Add(Collect("a"), 1, {{"trees", 3}});
  EXPECT_NO_THROW(LoopRecord(earlier.path()).SetModelOptions(options));
}

// Earlier versions wrote the whole arguments.
TEST(LoopRecord, AnEarlierRecordGoesOnAndLosesItsPasswords) {
  const ScratchFolder folder;
  folder.Write("loop.json", R"({"stages":[{"stage":"iteration_1/collect","program":"mcts_collect",)"
                            R"("arguments":["--max=3","--store=postgresql://ann:hunter2@db/x"],)"
                            R"("wall_s":1.0,"result":{"trees":3}}]})");
  LoopRecord record(folder.path());
  EXPECT_TRUE(record.Has(Collect("hunter2")));
  LoopStage next = Collect("hunter2");
  next.name = "iteration_2/collect";
  record.Add(next, 1, {{"trees", 3}});
  EXPECT_THAT(ReadFile(folder / "loop.json"), Not(HasSubstr("hunter2")));
}
using Json = nlohmann::ordered_json;

const LoopStage kRevise = {"iteration_1/revise", "path_collect", 1, {"--task=textcraft"}, "folder"};
// An evaluation whose episodes, none, are in `folder`.
LoopStage Evaluation(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "textcraft/m_local");
  return {"iteration_0/evaluate", "agent_eval", 0, {"--task=textcraft", "--model_name=m"}, folder};
}

const Json kRows = {{"rows", 7},
                    {"audit", {{"tasks", 3}, {"tokens", {{"trained", 5}, {"all", 9}}}}}};
const Json kSummary = {{"success", {{"mean", 0.5}, {"low", 0.4}, {"high", 0.6}}},
                       {"reward", {{"mean", 0.5}, {"low", 0.4}, {"high", 0.6}}},
                       {"steps", 10},
                       {"refused_steps", 1},
                       {"looping_episodes", 0},
                       {"revision_events", 2},
                       {"revised_errors", 1},
                       {"errors", 2},
                       {"mean_revision_length", 12.5},
                       {"success_threshold", 1.0},
                       {"attempts", {{{"k", 1}, {"pass", 0.5}}, {{"k", 2}, {"pass", 0.7}}}},
                       {"slips", {{"slips", 4}, {"revised_slips", 1}}}};

TEST(LoopRecord, IsTheSameAfterItWasReadAndContinued) {
  const ScratchFolder at_once, with_a_break;
  LoopRecord whole(at_once.path());
  const LoopStage evaluate = Evaluation(at_once.path());
  whole.Add(kRevise, 1.5, kRows);
  whole.Add(evaluate, 2.5, kSummary);
  LoopRecord(with_a_break.path()).Add(kRevise, 1.5, kRows);
  LoopRecord(with_a_break.path()).Add(evaluate, 2.5, kSummary);
  EXPECT_EQ(ReadFile(with_a_break / "loop.json"), ReadFile(at_once / "loop.json"));
  EXPECT_THAT(LoopTable({evaluate}, whole), HasSubstr("1 of 4 slips revised"));
}

TEST(LoopRecord, DamageIsNamedWithTheCure) {
  const ScratchFolder folder;
  const LoopStage evaluate = Evaluation(folder.path());
  LoopRecord record(folder.path());
  record.Add(kRevise, 1.5, kRows);
  record.Add(evaluate, 2.5, kSummary);
  int refused = 0;
  ForEachDamage(ReadJsonFile(folder / "loop.json"), [&](const Json& damaged, const auto& what) {
    folder.Write("loop.json", damaged.dump());
    try {
      const LoopRecord read(folder.path());
      read.Has(kRevise);
      LoopTable({kRevise, evaluate}, read);
    } catch (const FatalError& error) {
      ++refused;
      EXPECT_THAT(error.what(), AllOf(HasSubstr("loop.json"), Not(HasSubstr("json.exception"))))
          << what;
    }
  });
  EXPECT_GT(refused, 100);
  folder.Write("loop.json", R"({"stages": [1, 2]})");
  EXPECT_THAT(FileErrorOf([&] { const LoopRecord read(folder.path()); }),
              HasSubstr("Cure: choose another --name"));
}

// The files of a stage's program, whose figures are read.
TEST(ReadResult, DamagedFilesAreNamed) {
  const ScratchFolder folder;
  const LoopStage collect = {
      "c", "mcts_collect", 1, {"--task=textcraft", "--model_name=m"}, folder.path()};
  const LoopStage train = {"t", "agent_train", 1, {"--name=model"}, folder.path()};
  const LoopStage revise = {
      "r", "path_collect", 1, {"--task=textcraft", "--data_type=good"}, folder.path()};
  const LoopStage evaluate = {
      "e", "agent_eval", 1, {"--task=textcraft", "--model_name=m"}, folder.path()};
  const Json collected = {
      {"runs", {{{"result", {{"finished", 3}, {"already_there", 1}, {"failed", Json::array()}}}}}}};
  const Json trained = {{"runs", {{{"steps", 5}, {"skipped", 0}}}}};
  const auto check = [&](const LoopStage& stage, const std::string& file, const Json& record) {
    std::filesystem::create_directories((folder / file).parent_path());
    folder.Write(file, record.dump());
    EXPECT_FALSE(ReadResult(stage).is_null());
    ForEachDamage(record, [&](const Json& damaged, const auto& what) {
      folder.Write(file, damaged.dump());
      try {
        ReadResult(stage);
      } catch (const FatalError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("run again"), Not(HasSubstr("json.exception"))))
            << what;
      }
    });
  };
  check(collect, "textcraft/m/run.json", collected);
  check(train, "model/run.json", trained);
  check(revise, "textcraft_good.run.json", {{"rows", 7}, {"audit", kRows["audit"]}});
  check(evaluate, "textcraft/m_local/summary.json", kSummary);
}

}  // namespace
}  // namespace agentr
