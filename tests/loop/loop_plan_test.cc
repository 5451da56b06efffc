#include "loop/loop_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Names(const std::vector<LoopStage>& plan) {
  std::vector<std::string> names;
  for (const LoopStage& stage : plan) names.push_back(stage.name);
  return names;
}

SelfTrainOptions Options(int iterations) {
  SelfTrainOptions options;
  options.model_dir = "start";
  options.iterations = iterations;
  return options;
}

const LoopStage& Stage(const std::vector<LoopStage>& plan, const std::string& name) {
  for (const LoopStage& stage : plan) {
    if (stage.name == name) return stage;
  }
  throw std::runtime_error("no stage " + name);
}

TEST(LoopPlan, GoesOnFromTheModelBefore) {
  const auto plan = PlanLoop(Options(2));
  EXPECT_THAT(
      Names(plan),
      ElementsAre("iteration_0/evaluate", "iteration_1/collect", "iteration_1/revise_centric",
                  "iteration_1/revise_good", "iteration_1/train", "iteration_1/evaluate",
                  "iteration_2/collect", "iteration_2/revise_centric", "iteration_2/revise_good",
                  "iteration_2/train", "iteration_2/evaluate"));
  const std::string one = "--model_dir=loop_result/loop/iteration_1/train/model/model";
  EXPECT_THAT(Stage(plan, "iteration_0/evaluate").arguments, Contains("--model_dir=start"));
  EXPECT_THAT(Stage(plan, "iteration_1/collect").arguments, Contains("--model_dir=start"));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains("--model_dir=start"));
  for (const char* stage : {"iteration_1/evaluate", "iteration_2/collect",
                            "iteration_2/revise_centric", "iteration_2/train"}) {
    EXPECT_THAT(Stage(plan, stage).arguments, Contains(one)) << stage;
  }
}

TEST(LoopPlan, TrainingMayBeginWithTheStartModelEachTime) {
  SelfTrainOptions options = Options(2);
  options.train_from = "start";
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_2/train").arguments, Contains("--model_dir=start"));
  EXPECT_THAT(Stage(plan, "iteration_2/collect").arguments,
              Contains("--model_dir=loop_result/loop/iteration_1/train/model/model"));
}

TEST(LoopPlan, TrainingMayUseTheRowsOfEarlierIterationsToo) {
  const std::string first =
      "--data=loop_result/loop/iteration_1/revise_good/textcraft_good.messages.jsonl";
  const std::string second =
      "--data=loop_result/loop/iteration_2/revise_good/textcraft_good.messages.jsonl";
  SelfTrainOptions options = Options(2);
  const auto own = PlanLoop(options);
  EXPECT_THAT(Stage(own, "iteration_2/train").arguments, Not(Contains(first)));
  EXPECT_THAT(Stage(own, "iteration_2/train").arguments, Contains(second));
  options.rows = "all";
  const auto all = PlanLoop(options);
  EXPECT_THAT(Stage(all, "iteration_2/train").arguments, Contains(first));
  EXPECT_THAT(Stage(all, "iteration_2/train").arguments, Contains(second));
  EXPECT_THAT(Stage(all, "iteration_1/train").arguments, Not(Contains(second)));
}

TEST(LoopPlan, AlphaFollowsItsScheduleAndItsLastValueHolds) {
  SelfTrainOptions options = Options(3);
  options.alpha = {"0.5", "0.7"};
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_1/revise_good").arguments, Contains("--alpha=0.5"));
  EXPECT_THAT(Stage(plan, "iteration_2/revise_good").arguments, Contains("--alpha=0.7"));
  EXPECT_THAT(Stage(plan, "iteration_3/revise_centric").arguments, Contains("--alpha=0.7"));
}

TEST(LoopPlan, EveryIterationDrawsAnew) {
  const auto plan = PlanLoop(Options(2));
  EXPECT_THAT(Stage(plan, "iteration_1/collect").arguments, Contains("--seed=1"));
  EXPECT_THAT(Stage(plan, "iteration_2/collect").arguments, Contains("--seed=2"));
  // The tasks of the evaluations are played alike, so that they can be compared in pairs.
  EXPECT_THAT(Stage(plan, "iteration_1/evaluate").arguments, Contains("--seed=0"));
  EXPECT_THAT(Stage(plan, "iteration_2/evaluate").arguments, Contains("--seed=0"));
}

TEST(LoopPlan, MethodsDifferInTheirRows) {
  const std::string folder = "loop_result/loop/iteration_1/";
  const std::string revised =
      "--data=" + folder + "revise_centric/textcraft_centric.messages.jsonl";
  const std::string good = "--data=" + folder + "revise_good/textcraft_good.messages.jsonl";
  SelfTrainOptions options = Options(1);
  auto plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains(revised));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains(good));
  EXPECT_THAT(Stage(plan, "iteration_1/revise_centric").arguments,
              Not(Contains("--verifier=none")));

  options.method = "direct-revision";
  plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_1/revise_centric").arguments, Contains("--verifier=none"));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains(revised));

  options.method = "good-only";
  plan = PlanLoop(options);
  EXPECT_THAT(Names(plan), Not(Contains("iteration_1/revise_centric")));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Not(Contains(revised)));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains(good));

  options.method = "search-only";
  options.iterations = 2;
  plan = PlanLoop(options);
  EXPECT_THAT(Names(plan), Not(Contains("iteration_1/train")));
  EXPECT_THAT(Stage(plan, "iteration_2/collect").arguments, Contains("--model_dir=start"));
}

TEST(LoopPlan, DemonstrationsKeepTheirWeights) {
  SelfTrainOptions options = Options(1);
  options.demonstrations = {"demos.jsonl"};
  EXPECT_THAT(Stage(PlanLoop(options), "iteration_1/train").arguments,
              Contains("--data=demos.jsonl"));
  options.demonstrations = {"demos.jsonl:0.5"};
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains("--data=demos.jsonl:0.5"));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments,
              Contains("--data=loop_result/loop/iteration_1/revise_good/"
                       "textcraft_good.messages.jsonl:1"));
}

TEST(LoopPlan, TrainingsKnowTheModelOptionsOfThePlays) {
  SelfTrainOptions options = Options(2);
  EXPECT_THAT(Redacted(Stage(PlanLoop(options), "iteration_1/train").arguments),
              Not(Contains(testing::StartsWith("--chat"))));
  options.chat_template = "chatml";
  options.chat_kwargs = R"({"enable_thinking":false})";
  options.base_model = "base";
  const auto plan = PlanLoop(options);
  for (const char* stage : {"iteration_1/train", "iteration_2/train"}) {
    const auto& arguments = Stage(plan, stage).arguments;
    EXPECT_THAT(arguments, Contains("--chat_template=chatml")) << stage;
    EXPECT_THAT(arguments, Contains(R"(--chat_kwargs={"enable_thinking":false})")) << stage;
  }
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains("--base_model=base"));
  EXPECT_THAT(Stage(plan, "iteration_2/train").arguments, Not(Contains("--base_model=base")))
      << "what the first iteration has made is a whole model";
}

TEST(LoopPlan, DemonstrationsAreCheckedBeforeTheSearch) {
  const ScratchFolder folder;
  const std::string there = folder.Write("demos.jsonl", "{}\n").string();
  SelfTrainOptions options = Options(1);
  const auto message = [&](const std::vector<std::string>& demonstrations,
                           ExitCode code = ExitCode::kUsage) {
    options.demonstrations = demonstrations;
    return FatalErrorOf(code, [&] { Check(options); });
  };
  EXPECT_EQ(message({there}), "");
  EXPECT_EQ(message({there + ":0.5"}), "");
  EXPECT_THAT(message({"nowhere.jsonl:2"}, ExitCode::kFile),
              HasSubstr("there is no file nowhere.jsonl"));
  EXPECT_THAT(message({there + ":-1"}), HasSubstr("--demonstrations " + there + ":-1"));
  EXPECT_THAT(message({there, there + ":0.5"}), HasSubstr("has no weight, but others have one"));
  options.revised_weight = 2;
  EXPECT_THAT(message({there}), HasSubstr("has no weight, but --revised_weight"));
}

TEST(LoopPlan, RevisedRowsMayWeighMoreThanGoodOnes) {
  const std::string folder = "loop_result/loop/iteration_1/";
  SelfTrainOptions options = Options(1);
  options.revised_weight = 2.5;
  const auto plan = PlanLoop(options);
  const auto& arguments = Stage(plan, "iteration_1/train").arguments;
  EXPECT_THAT(arguments,
              Contains("--data=" + folder + "revise_centric/textcraft_centric.messages.jsonl:2.5"));
  EXPECT_THAT(arguments,
              Contains("--data=" + folder + "revise_good/textcraft_good.messages.jsonl:1"));
}

// Otherwise the share of the demonstrations would fall with every iteration.
TEST(LoopPlan, TheRowsOfAllIterationsShareTheWeightOfTheirType) {
  SelfTrainOptions options = Options(4);
  options.rows = "all";
  options.revised_weight = 2;
  const auto plan = PlanLoop(options);
  for (const std::string iteration : {"1", "2", "3", "4"}) {
    const std::string folder = "--data=loop_result/loop/iteration_" + iteration + "/";
    const auto& arguments = Stage(plan, "iteration_4/train").arguments;
    EXPECT_THAT(arguments,
                Contains(folder + "revise_centric/textcraft_centric.messages.jsonl:0.5"));
    EXPECT_THAT(arguments, Contains(folder + "revise_good/textcraft_good.messages.jsonl:0.25"));
  }
}

// With the same number of tokens a later training would see each row less often.
TEST(LoopPlan, TrainedTokensGrowWithTheRows) {
  SelfTrainOptions options = Options(3);
  options.train_tokens = 1000;
  EXPECT_THAT(Stage(PlanLoop(options), "iteration_3/train").arguments,
              Contains("--train_tokens=1000"));
  options.rows = "all";
  EXPECT_THAT(Stage(PlanLoop(options), "iteration_1/train").arguments,
              Contains("--train_tokens=1000"));
  EXPECT_THAT(Stage(PlanLoop(options), "iteration_3/train").arguments,
              Contains("--train_tokens=3000"));
  options.train_tokens = 0;
  EXPECT_THAT(Redacted(Stage(PlanLoop(options), "iteration_3/train").arguments),
              Not(Contains(testing::StartsWith("--train_tokens"))));
}

TEST(LoopPlan, EvaluatesAlsoWithSlips) {
  SelfTrainOptions options = Options(1);
  EXPECT_THAT(Names(PlanLoop(options)), Not(Contains("iteration_0/slip")));
  options.eval_slip = 0.1;
  options.evaluate = {"--slip_kind=lost"};
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Names(plan), Contains("iteration_0/slip"));
  EXPECT_THAT(Stage(plan, "iteration_1/slip").arguments, Contains("--slip=0.1"));
  EXPECT_THAT(Stage(plan, "iteration_1/slip").arguments, Contains("--slip_kind=lost"));
  EXPECT_THAT(Redacted(Stage(plan, "iteration_1/evaluate").arguments),
              Not(Contains(testing::StartsWith("--slip="))));
}

TEST(LoopPlan, OneModelLearnsSeveralTasks) {
  SelfTrainOptions options = Options(1);
  options.tasks = {"textcraft", "webshop"};
  options.attempts = 2;
  options.collect = {"--n_gen=2", "webshop:--max=100"};
  options.evaluate = {"textcraft:--max_steps=20"};
  Check(options);
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Names(plan),
              ElementsAre("iteration_0/evaluate_textcraft", "iteration_0/sample_textcraft",
                          "iteration_0/evaluate_webshop", "iteration_0/sample_webshop",
                          "iteration_1/collect_textcraft", "iteration_1/revise_centric_textcraft",
                          "iteration_1/revise_good_textcraft", "iteration_1/collect_webshop",
                          "iteration_1/revise_centric_webshop", "iteration_1/revise_good_webshop",
                          "iteration_1/train", "iteration_1/evaluate_textcraft",
                          "iteration_1/sample_textcraft", "iteration_1/evaluate_webshop",
                          "iteration_1/sample_webshop"));
  const std::string folder = "loop_result/loop/iteration_1/";
  const auto& train = Stage(plan, "iteration_1/train").arguments;
  for (const char* task : {"textcraft", "webshop"}) {
    EXPECT_THAT(train, Contains("--data=" + folder + "revise_good_" + task + "/" + task +
                                "_good.messages.jsonl"));
  }
  const auto& textcraft = Stage(plan, "iteration_1/collect_textcraft").arguments;
  EXPECT_THAT(textcraft, Contains("--n_gen=2"));
  EXPECT_THAT(textcraft, Not(Contains("--max=100")));
  const auto& webshop = Stage(plan, "iteration_1/collect_webshop").arguments;
  EXPECT_THAT(webshop, Contains("--n_gen=2"));
  EXPECT_THAT(webshop, Contains("--max=100"));
  EXPECT_THAT(Stage(plan, "iteration_1/revise_good_webshop").arguments,
              Contains("--input_dir=" + folder + "collect_webshop"));
  EXPECT_THAT(Stage(plan, "iteration_1/sample_textcraft").arguments, Contains("--max_steps=20"));
  EXPECT_THAT(Stage(plan, "iteration_1/sample_webshop").arguments, Not(Contains("--max_steps=20")));
}

TEST(LoopPlan, AnArgumentForAnotherTaskIsAnError) {
  SelfTrainOptions options = Options(1);
  options.evaluate = {"webshop:--max_steps=20"};
  EXPECT_THROW(Check(options), FatalError);
  options.evaluate = {"textcraft:--max_steps=20"};
  EXPECT_NO_THROW(Check(options));
}

TEST(LoopPlan, FurtherArgumentsComeLast) {
  SelfTrainOptions options = Options(1);
  options.collect = {"--iterations=9"};
  options.train = {"--lr=1"};
  const auto plan = PlanLoop(options);
  EXPECT_EQ(Stage(plan, "iteration_1/collect").arguments.back(), "--iterations=9");
  EXPECT_EQ(Stage(plan, "iteration_1/train").arguments.back(), "--lr=1");
}

TEST(LoopPlan, FurtherArgumentsTakeThePlaceOfItsOwn) {
  SelfTrainOptions options = Options(1);
  options.collect = {"--seed=7"};
  options.train = {"--data=more.jsonl"};
  const auto plan = PlanLoop(options);
  EXPECT_THAT(Stage(plan, "iteration_1/collect").arguments, Contains("--seed=7"));
  EXPECT_THAT(Stage(plan, "iteration_1/collect").arguments, Not(Contains("--seed=1")));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments, Contains("--data=more.jsonl"));
  EXPECT_THAT(Stage(plan, "iteration_1/train").arguments,
              Contains("--data=loop_result/loop/iteration_1/revise_good/"
                       "textcraft_good.messages.jsonl"));
}

TEST(LoopPlan, ASecondTrainingPrefersWhatTheRowsCorrect) {
  SelfTrainOptions options = Options(2);
  options.rows = "all";
  options.train_from = "start";
  options.chat_template = "chatml";
  EXPECT_THAT(Names(PlanLoop(options)), Not(Contains("iteration_1/prefer")));
  options.prefer_steps = 30;
  options.prefer = {"--lr=1e-6", "--pairs=more.jsonl"};
  const auto plan = PlanLoop(options);
  EXPECT_THAT(
      Names(plan),
      ElementsAre("iteration_0/evaluate", "iteration_1/collect", "iteration_1/revise_centric",
                  "iteration_1/revise_good", "iteration_1/train", "iteration_1/prefer",
                  "iteration_1/evaluate", "iteration_2/collect", "iteration_2/revise_centric",
                  "iteration_2/revise_good", "iteration_2/train", "iteration_2/prefer",
                  "iteration_2/evaluate"));
  const std::string folder = "loop_result/loop/iteration_";
  EXPECT_THAT(Stage(plan, "iteration_1/revise_centric").arguments, Contains("--format=preference"));
  EXPECT_THAT(Stage(plan, "iteration_1/revise_good").arguments,
              Not(Contains("--format=preference")));
  const auto& first = Stage(plan, "iteration_1/prefer").arguments;
  const auto& second = Stage(plan, "iteration_2/prefer").arguments;
  const std::string pairs =
      "--pairs=" + folder + "1/revise_centric/textcraft_centric.preference.jsonl";
  EXPECT_THAT(first, Contains("--model_dir=" + folder + "1/train/model/model"));
  EXPECT_THAT(first, Contains(pairs));
  EXPECT_THAT(first, Contains("--pairs=more.jsonl"));
  EXPECT_THAT(first, Contains("--iterations=30"));
  EXPECT_THAT(first, Contains("--lr=1e-6"));
  EXPECT_THAT(first, Not(Contains("--lr=1e-5")));
  EXPECT_THAT(first, Contains("--chat_template=chatml"));
  EXPECT_THAT(first, Contains("--seed=1"));
  EXPECT_THAT(second, Contains(pairs));
  EXPECT_THAT(second, Contains("--iterations=60"));
  EXPECT_THAT(second, Contains("--seed=2"));
  // What it makes is the model of the iteration.
  for (const char* stage : {"iteration_1/evaluate", "iteration_2/collect"}) {
    EXPECT_THAT(Stage(plan, stage).arguments,
                Contains("--model_dir=" + folder + "1/prefer/model/model"))
        << stage;
  }
  EXPECT_THAT(Stage(plan, "iteration_2/train").arguments, Contains("--model_dir=start"));
  EXPECT_NO_THROW(Check(options));
  options.chat_kwargs = R"({"enable_thinking":false})";
  EXPECT_THROW(Check(options), FatalError) << "agent_rl has no --chat_kwargs";
  options.chat_kwargs.clear();
  options.method = "good-only";
  EXPECT_THROW(Check(options), FatalError);
}

TEST(LoopPlan, TheSecondTrainingHasTheValuesOfItsConfiguration) {
  SelfTrainOptions options = Options(1);
  options.prefer_steps = 1;
  const auto arguments = Redacted(Stage(PlanLoop(options), "iteration_1/prefer").arguments);
  std::istringstream lines(ReadFile(AGENTR_SOURCE_DIR "/configs/rl/corrections.toml"));
  int compared = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    const std::string name = line.substr(0, equals);
    const bool of_the_run = name == "name" || name == "iterations" || name == "updates";
    if (line.starts_with("#") || equals == std::string::npos || of_the_run) continue;
    std::string value = line.substr(equals + 3);
    std::erase(value, '"');
    EXPECT_THAT(arguments, Contains(fmt::format("--{}={}", name, value)));
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(LoopPlan, AModelIsNeeded) {
  EXPECT_THROW(Check(SelfTrainOptions{}), FatalError);
  SelfTrainOptions options = Options(1);
  EXPECT_NO_THROW(Check(options));
  options.alpha.clear();
  EXPECT_THROW(Check(options), FatalError);
}

}  // namespace
}  // namespace agentr
