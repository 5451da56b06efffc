#include "rl/trees/tree_objective.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <numeric>

#include "rl/losses/row_pass.h"
#include "tests/common/scratch_folder.h"
#include "tests/training/tiny_network.h"
#include "training/optim/adamw.h"

namespace agentr {
namespace {

// Two prompts with a better and a worse response each.
TreeData Pairs() {
  TreeData data;
  const std::vector<std::vector<int32_t>> prompts = {{5, 9, 2, 7}, {5, 9, 6, 1, 8}};
  const std::vector<std::vector<int32_t>> answers = {{4, 11, 3}, {4, 8}, {12, 3}, {10, 3}};
  for (size_t i = 0; i < answers.size(); ++i) {
    TreeResponse& response = data.responses.emplace_back();
    response.row.ids = prompts[i / 2];
    const auto begin = static_cast<int32_t>(response.row.ids.size());
    response.row.ids.insert(response.row.ids.end(), answers[i].begin(), answers[i].end());
    response.row.trained = {{begin, static_cast<int32_t>(response.row.ids.size())}};
    response.advantage = i % 2 == 0 ? 0.5 : -0.5;
  }
  data.items = {{0, 1}, {2, 3}};
  data.stretches = {0};
  data.hash = "pairs";
  return data;
}

// Each response alone.
TreeData Responses() {
  TreeData data = Pairs();
  data.items = {{0}, {1}, {2}, {3}};
  return data;
}

double LogProb(Network& network, const TreeResponse& response) {
  return RowPass(network, {&response.row, 1}, {}, /*keep=*/false).log_probs()[0].item<double>();
}

std::vector<size_t> AllItems(const TreeData& data) {
  std::vector<size_t> all(data.items.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

class TreeObjectiveTest : public ::testing::Test {
 protected:
  std::vector<TreeStepReport> Train(TreeAlgorithmKind kind, const TreeData& data, int steps) {
    TreeObjective objective(options_, kind, data, network_);
    if (objective.NeedsReference())
      objective.UseReference(folder_.path() / "reference.json", "model");
    AdamW optimizer(network_.trained(), {});
    std::vector<TreeStepReport> reports;
    for (int i = 0; i < steps; ++i) {
      reports.push_back(objective.AddGradients(AllItems(data)));
      optimizer.Step(3e-3, optimizer.GradientNorm());
      network_.Refresh();
    }
    return reports;
  }

  Network network_ = TrainedNetwork("qwen2");
  TreeObjectiveOptions options_;
  ScratchFolder folder_;
};

TEST_F(TreeObjectiveTest, DpoBeginsAtLnTwoAndLearnsToPrefer) {
  options_.dpo.beta = 0.5;
  const TreeData data = Pairs();
  const double before = LogProb(network_, data.responses[1]) - LogProb(network_, data.responses[0]);
  const auto reports = Train(TreeAlgorithmKind::kDpo, data, 25);
  EXPECT_NEAR(reports.front().loss, std::log(2), 1e-6);
  EXPECT_EQ(reports.front().margin, 0);
  EXPECT_LT(reports.back().loss, 0.2);
  EXPECT_EQ(reports.back().correct, 1);
  EXPECT_GT(reports.back().chosen, reports.back().rejected);
  const double after = LogProb(network_, data.responses[1]) - LogProb(network_, data.responses[0]);
  EXPECT_LT(after, before - 1);
  // Each prompt is computed once for both responses, and what the prompts have in common too.
  EXPECT_EQ(reports.front().row_tokens, 7 + 6 + 7 + 7);
  EXPECT_LE(reports.front().distinct_tokens, 4 + 3 + 2 + 3 + 2 + 2);
}

TEST_F(TreeObjectiveTest, AwrMakesTheBetterResponseMoreProbable) {
  options_.awr = {.temperature = 0.25, .most_weight = 5};
  const TreeData data = Responses();
  const double sum = LogProb(network_, data.responses[0]),
               other = LogProb(network_, data.responses[1]);
  const double rest = LogProb(network_, data.responses[2]),
               last = LogProb(network_, data.responses[3]);
  const auto reports = Train(TreeAlgorithmKind::kAwr, data, 20);
  const double good = 5, bad = std::exp(-2);  // exp(2) is cut to 5
  EXPECT_NEAR(reports.front().loss, -(good * (sum + rest) + bad * (other + last)) / 4, 1e-3);
  EXPECT_NEAR(reports.front().weight, (good + bad) / 2, 1e-9);
  EXPECT_NEAR(reports.front().clipped, 0.5, 1e-9);
  EXPECT_GT(LogProb(network_, data.responses[0]), sum + 1);
}

TEST_F(TreeObjectiveTest, GrpoRaisesGoodAndLowersBadResponses) {
  options_.grpo = {.clip = 0.2, .kl = 0.01};
  const TreeData data = Responses();  // sampled without log-probabilities: the reference's
  const double good = LogProb(network_, data.responses[0]),
               bad = LogProb(network_, data.responses[1]);
  const auto reports = Train(TreeAlgorithmKind::kTreeGrpo, data, 4);
  EXPECT_NEAR(reports.front().loss, 0, 1e-6);  // ratio 1, advantages cancel out
  EXPECT_EQ(reports.front().divergence, 0);
  EXPECT_GT(reports.back().divergence, 0);
  EXPECT_GT(LogProb(network_, data.responses[0]), good);
  EXPECT_LT(LogProb(network_, data.responses[1]), bad);
}

// The derivatives of a step follow the averages: those of each response's own log-probability.
TEST_F(TreeObjectiveTest, GrpoAveragesOverResponsesTokensOrAConstant) {
  TreeData data = Responses();  // of 3, 2, 2 and 2 tokens, with advantages 0.5 and -0.5
  data.responses[3].row.weight = 3;
  // At the sampled policy the loss is -sum of share * tokens * advantage.
  const double tokens = 3 + 2 + 2 + 3 * 2;
  const std::map<GrpoAverage, double> expected = {
      {GrpoAverage::kSequence, -(0.5 - 0.5 + 0.5 - 3 * 0.5) / 6},
      {GrpoAverage::kToken, -(3 * 0.5 - 2 * 0.5 + 2 * 0.5 - 3 * 2 * 0.5) / tokens},
      {GrpoAverage::kConstant, -(3 * 0.5 - 2 * 0.5 + 2 * 0.5 - 3 * 2 * 0.5) / (6 * 10)}};
  for (const auto& [average, loss] : expected) {
    options_.grpo = {.kl = 0, .average = average, .constant = 10};
    TreeObjective objective(options_, TreeAlgorithmKind::kTreeGrpo, data, network_);
    objective.UseReference(network_);
    const TreeStepReport report = objective.AddGradients(AllItems(data));
    EXPECT_NEAR(report.loss, loss, 1e-6) << NameOf(kGrpoAverages, average);
    EXPECT_NEAR(report.moved, 0, 1e-9);
  }
}

// Gradients of small micro-batches add up to that of one batch.
TEST_F(TreeObjectiveTest, MicroBatchesAddUp) {
  const TreeData data = Pairs();
  std::vector<TrainedStep> results;
  for (const int batch_tokens : {1000, 1}) {
    options_.batch_tokens = batch_tokens;
    TreeObjective objective(options_, TreeAlgorithmKind::kDpo, data, network_);
    objective.UseReference(folder_.path() / "reference.json", "model");
    const double loss = objective.AddGradients(AllItems(data)).loss;
    results.push_back({loss, TakeGradients(network_)});
  }
  ExpectSame(results[1], results[0]);
}

TEST_F(TreeObjectiveTest, TheReferenceIsThatBeforeTraining) {
  const TreeData data = Pairs();
  Train(TreeAlgorithmKind::kDpo, data, 5);
  // A continued run reads it: with the trained weights the margin is no longer 0.
  TreeObjective again(options_, TreeAlgorithmKind::kDpo, data, network_);
  again.UseReference(folder_.path() / "reference.json", "model");
  EXPECT_GT(again.AddGradients(AllItems(data)).margin, 0);
  TreeData other = Pairs();
  other.hash = "other";
  TreeObjective wrong(options_, TreeAlgorithmKind::kDpo, other, network_);
  EXPECT_THROW(wrong.UseReference(folder_.path() / "reference.json", "model"), FatalError);
  EXPECT_THROW(again.UseReference(folder_.path() / "reference.json", "another"), FatalError);
}

}  // namespace
}  // namespace agentr
