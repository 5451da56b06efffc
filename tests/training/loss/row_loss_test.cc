#include "training/loss/row_loss.h"

#include <cmath>

#include "tests/training/finite_difference.h"
#include "tests/training/tiny_network.h"
#include "training/loss/preference.h"

namespace agentr {
namespace {

// Two responses to one prompt, and one to its beginning. The first two begin with the same token.
std::vector<TrainingRow> Responses() {
  return {
      {{5, 9, 2, 7, 4, 11, 3}, {{4, 7}}}, {{5, 9, 2, 7, 4, 8}, {{4, 6}}}, {{5, 9, 6, 1}, {{2, 4}}}};
}

std::vector<const TrainingRow*> PointersTo(const std::vector<TrainingRow>& rows) {
  std::vector<const TrainingRow*> pointers;
  for (const TrainingRow& row : rows) pointers.push_back(&row);
  return pointers;
}

RowBatch InOneBatch(const std::vector<TrainingRow>& rows) {
  return BuildRowBatch(PointersTo(rows), true);
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

std::map<std::string, at::Tensor> TakeGradients(Network& network) {
  std::map<std::string, at::Tensor> gradients;
  for (const Parameter& p : network.trained()) {
    gradients[p.name] = p.gradient.clone();
    p.gradient.zero_();
  }
  return gradients;
}

TEST(RowLogprobs, OfRowsTogetherAreThoseOfEachAlone) {
  Network network = TinyNetwork("qwen2");
  const std::vector<TrainingRow> rows = Responses();
  const RowBatch together = InOneBatch(rows);
  EXPECT_LT(together.batch.tokens.size(), 17U);  // the prompt is shared
  const RowValues logprobs = RowLogprobs(network, together);
  ASSERT_EQ(logprobs.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowValues alone = RowLogprobs(network, InOneBatch({rows[i]}));
    ASSERT_EQ(logprobs[i].size(), static_cast<size_t>(rows[i].trained_tokens()));
    for (size_t k = 0; k < logprobs[i].size(); ++k) {
      EXPECT_NEAR(logprobs[i][k], alone[0][k], 1e-5) << i << " " << k;
      EXPECT_LT(logprobs[i][k], 0);
    }
  }
}

TEST(TrainOnRows, MinusTheSumOfLogprobsIsTheCrossEntropy) {
  Network network = TinyNetwork("llama");
  network.TrainAll();
  const RowBatch rows = InOneBatch(Responses());
  const double loss = TrainOn(network, rows.batch, 1).Total().loss;
  const auto expected = TakeGradients(network);
  double sum = 0;
  TrainOnRows(network, rows, [&](const RowValues& logprobs, RowValues& derivatives) {
    for (size_t i = 0; i < logprobs.size(); ++i) {
      sum -= Sum(logprobs[i]);
      for (double& derivative : derivatives[i]) derivative = -1;
    }
  });
  EXPECT_NEAR(sum, loss, 1e-4);
  ExpectSame({sum, TakeGradients(network)}, {loss, expected}, 1e-5);
}

// The DPO loss of a pair in which the responses share a token, whose derivatives cancel out.
TEST(TrainOnRows, DpoGradientIsAFiniteDifference) {
  Network network = TinyNetwork("llama");
  network.TrainAll();
  const std::vector<TrainingRow> responses = Responses();
  const RowBatch rows = InOneBatch({responses[0], responses[1]});
  const auto pair_loss = [](const RowValues& logprobs) {
    return DpoLoss({Sum(logprobs[0]), -9, 3}, {Sum(logprobs[1]), -8, 2}, {.beta = 0.5});
  };
  TrainOnRows(network, rows, [&](const RowValues& logprobs, RowValues& derivatives) {
    const PairLoss pair = pair_loss(logprobs);
    for (double& derivative : derivatives[0]) derivative = pair.d_chosen;
    for (double& derivative : derivatives[1]) derivative = pair.d_rejected;
  });
  for (const Parameter& p : network.trained()) {
    if (p.name != "model.norm.weight") continue;
    ExpectGradient(p.value, p.gradient.clone(), [&] {
      network.Refresh();
      return pair_loss(RowLogprobs(network, rows)).loss;
    });
  }
}

}  // namespace
}  // namespace agentr
