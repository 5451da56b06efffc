#include "training/resumable_run.h"

#include <gmock/gmock.h>

#include "common/options.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/training/finite_difference.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Fingerprint kOptions = {{"--lr", "0.1"}};

CheckpointTensors Values(uint64_t seed = 1) {
  CheckpointTensors t;
  t.parameters.push_back({"a", RandomTensor({3, 5}, seed), {}, true});
  t.moments.push_back({0, 0, RandomTensor({3, 5}, seed + 1), RandomTensor({3, 5}, seed + 2)});
  return t;
}

// A run that has begun in the folder.
struct Begun {
  explicit Begun(const std::filesystem::path& folder, bool keep_best = false,
                 const Fingerprint& options = kOptions)
      : run(folder, /*keep=*/2, keep_best, nullptr) {
    run.Lock();
    saved = run.Choose(options);
    run.Begin(OptionSet("program", ""));
  }

  void SaveAt(int64_t step) {
    run.state().step = step;
    run.Save([](nlohmann::ordered_json& json) {
      json["more"] = "word";
      return Values();
    });
  }

  ResumableRun run;
  nlohmann::json saved;
};

nlohmann::ordered_json RunsOf(const std::filesystem::path& folder) {
  return nlohmann::ordered_json::parse(ReadFile(folder / "run.json"))["runs"];
}

TEST(ResumableRun, GoesOnFromTheLastCheckpoint) {
  const ScratchFolder folder;
  {
    Begun first(folder.path());
    EXPECT_TRUE(first.saved.empty());
    EXPECT_EQ(first.run.saved(), -1);
    first.run.state().optimizer_steps = 3;
    first.SaveAt(4);
    first.SaveAt(5);
    EXPECT_EQ(first.run.saved(), 5);
  }
  const Begun second(folder.path());
  EXPECT_EQ(second.run.saved(), 5);
  EXPECT_EQ(second.run.state().step, 5);
  EXPECT_EQ(second.run.state().optimizer_steps, 3);
  EXPECT_EQ(second.saved["more"], "word");
  EXPECT_EQ(second.run.place(), (folder / "checkpoints/step-00000005").string());
  EXPECT_TRUE(std::filesystem::exists(folder / "resolved.toml"));
}

TEST(ResumableRun, RefusesOtherOptionsAndKeepsTheOldOnes) {
  const ScratchFolder folder;
  {
    Begun first(folder.path());
    first.SaveAt(1);
  }
  folder.Write("resolved.toml", "of before");
  const auto with_others = [&] { Begun(folder.path(), false, {{"--lr", "0.2"}}); };
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, with_others),
              HasSubstr("--lr differs (0.1 there, 0.2 now)"));
  EXPECT_EQ(ReadFile(folder / "resolved.toml"), "of before");
}

TEST(ResumableRun, RefusesASecondRunInTheFolder) {
  const ScratchFolder folder;
  const Begun first(folder.path());
  ResumableRun second(folder.path(), 2, false, nullptr);
  EXPECT_NE(FatalErrorOf(ExitCode::kFile, [&] { second.Lock(); }), "");
}

TEST(ResumableRun, KeepsTheLastCheckpointsAndTheBest) {
  const ScratchFolder last, best;
  for (const bool keep_best : {false, true}) {
    Begun begun(keep_best ? best.path() : last.path(), keep_best);
    begun.run.state().best_step = 1;
    for (int64_t step = 1; step <= 4; ++step) begun.SaveAt(step);
  }
  EXPECT_THAT(CheckpointFolder(last / "checkpoints").Steps(), ElementsAre(3, 4));
  EXPECT_THAT(CheckpointFolder(best / "checkpoints").Steps(), ElementsAre(1, 3, 4));
  // What a killed run left is removed once the last one has been read.
  CheckpointFolder(last / "checkpoints").Save(2, Values(), {});
  const Begun again(last.path());
  EXPECT_THAT(again.run.checkpoints().Steps(), ElementsAre(3, 4));
}

TEST(ResumableRun, MetricsGoOnBehindTheCheckpoint) {
  const ScratchFolder folder;
  {
    Begun first(folder.path());
    first.run.metrics()->Add({{"step", 1}, {"x", 1}});
    first.SaveAt(1);
    first.run.metrics()->Add({{"step", 2}, {"x", 2}});  // it is killed before the next checkpoint
  }
  const Begun second(folder.path());
  EXPECT_EQ(ReadFile(folder / "metrics.jsonl"), "{\"step\":1,\"x\":1}\n");
}

TEST(ResumableRun, GoesOnUntilTheLastStepOrASignal) {
  const ScratchFolder folder;
  Begun begun(folder.path());
  std::atomic<bool> stop = false;
  begun.run.state().step = 2;
  EXPECT_TRUE(begun.run.GoesOn(3, stop));
  EXPECT_FALSE(begun.run.GoesOn(2, stop));
  stop = true;
  EXPECT_FALSE(begun.run.GoesOn(3, stop));
}

TEST(ResumableRun, TellsWhatWasDoneAndWhyItDiverged) {
  const ScratchFolder folder;
  const Begun begun(folder.path());
  int done = 0;
  const auto details = [&](double wall_s) -> nlohmann::ordered_json {
    EXPECT_GE(wall_s, 0);
    return {{"steps", done}};
  };
  begun.run.Record(
      "program", [&] { done = 7; }, details);
  const auto diverge = [] { EndDiverged("the loss is inf"); };
  EXPECT_THAT(FatalErrorOf<DivergedError>([&] { begun.run.Record("program", diverge, details); }),
              HasSubstr("the loss is inf"));
  // Another failure is no end of a run that its record should tell.
  const auto fail = [] { throw FatalError(ExitCode::kFile, "gone"); };
  EXPECT_EQ(FatalErrorOf([&] { begun.run.Record("program", fail, details); }), "gone");
  const auto runs = RunsOf(folder.path());
  ASSERT_EQ(runs.size(), 2u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : runs[1].items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("program", "version", "options", "processes", "steps", "diverged",
                                "processor"));
  EXPECT_EQ(runs[0]["steps"], 7);
  EXPECT_FALSE(runs[0].contains("diverged"));
  EXPECT_THAT(runs[1]["diverged"].get<std::string>(), HasSubstr("the loss is inf"));
}

}  // namespace
}  // namespace agentr
