// Passes over shared prefixes: the same as each row alone, with right gradients.
#include "rl/losses/row_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "rl/losses/preference.h"
#include "rl/policies/policy_model.h"
#include "tests/training/finite_difference.h"
#include "tests/training/tiny_network.h"
#include "training/loss/batch_loss.h"

namespace agentr {
namespace {

// Prompts with equal beginnings, actions with equal beginnings, and one row twice.
std::vector<TrainingRow> SharedRows() {
  const std::vector<int32_t> a = {5, 6, 7, 8}, b = {5, 6, 9}, c = {11, 3};
  return {ActionRow(a, {1, 2}),    ActionRow(b, {1, 2, 3}),  ActionRow(a, {1, 4}),
          ActionRow(c, {7}),       ActionRow(a, {1, 2}),     ActionRow(a, {1, 2, 6, 3}),
          ActionRow(b, {4, 4, 4}), ActionRow({5, 6}, {7, 8})};
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(RowPass, SharedRowsAreAsEachRowAlone) {
  for (const std::string& family : TinyFamilies()) {
    Network network = TinyNetwork(family);
    const std::vector<TrainingRow> rows = SharedRows();
    std::vector<RowToken> states;
    for (size_t r = 0; r < rows.size(); ++r) states.push_back({r, rows[r].trained[0].begin - 1});
    RowPass together(network, rows, states, false);
    EXPECT_LT(together.tokens(), together.row_tokens() * 2 / 3);
    for (size_t r = 0; r < rows.size(); ++r) {
      const RowToken state{0, states[r].token};
      RowPass alone(network, {&rows[r], 1}, {&state, 1}, false);
      ASSERT_EQ(together.token_log_probs()[r].size(), alone.token_log_probs()[0].size());
      EXPECT_NEAR(together.log_probs()[static_cast<int64_t>(r)].item<float>(),
                  alone.log_probs()[0].item<float>(), 3e-5)
          << family << " " << r;
      EXPECT_LT((together.states()[static_cast<int64_t>(r)] - alone.states()[0])
                    .abs()
                    .max()
                    .item<float>(),
                1e-4)
          << family << " " << r;
    }
  }
}

TEST(RowPass, GradientsAreThoseOfTheSums) {
  Network network = TrainedNetwork("qwen2");
  const std::vector<TrainingRow> rows = SharedRows();
  const std::vector<RowToken> states = {{0, 3}, {1, 2}, {5, 6}};
  const auto count = static_cast<int64_t>(rows.size());
  const at::Tensor by_rows = RandomTensor({count}, 1);
  const at::Tensor by_states = RandomTensor({3, network.config().hidden_size}, 2);
  const auto f = [&] {
    network.Refresh();
    RowPass pass(network, rows, states, false);
    return Product(pass.log_probs(), by_rows) + Product(pass.states(), by_states);
  };
  RowPass pass(network, rows, states, true);
  pass.Backward(by_rows, by_states);
  EXPECT_GT(ExpectLargestDerivatives(network.trained(), f, 1e-3, 0.02).size(), 10u);
}

TEST(RowPass, TokensAddUpToRows) {
  Network network = TinyNetwork("llama");
  const std::vector<TrainingRow> rows = SharedRows();
  const RowPass pass(network, rows, {}, false);
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double>& tokens = pass.token_log_probs()[r];
    EXPECT_EQ(static_cast<int64_t>(tokens.size()), rows[r].trained_tokens());
    EXPECT_NEAR(Sum(tokens), pass.log_probs()[static_cast<int64_t>(r)].item<float>(), 1e-5);
  }
}

TEST(RowPass, MinusTheSumOfLogProbsIsTheCrossEntropy) {
  Network network = TrainedNetwork("llama");
  const std::vector<TrainingRow> rows = SharedRows();
  const Batch batch = BuildBatch(PointersTo(rows), /*share_prefixes=*/true);
  const double loss = TrainOn(network, batch, 1).Total().loss;
  const auto expected = TakeGradients(network);
  RowPass pass(network, rows, {}, true);
  const double sum = -pass.log_probs().sum().item<double>();
  pass.Backward(-at::ones({static_cast<int64_t>(rows.size())}), {});
  EXPECT_NEAR(sum, loss, 1e-4);
  ExpectSame({sum, TakeGradients(network)}, {loss, expected}, 1e-5);
}

// The DPO loss of a pair in which the responses share a token, whose derivatives cancel out.
TEST(RowPass, DpoGradientIsAFiniteDifference) {
  Network network = TrainedNetwork("llama");
  const std::vector<int32_t> prompt = {5, 9, 2, 7};
  const std::vector<TrainingRow> rows = {ActionRow(prompt, {4, 11, 3}), ActionRow(prompt, {4, 8})};
  const auto pair_loss = [](const RowValues& logprobs) {
    return DpoLoss({Sum(logprobs[0]), -9, 3}, {Sum(logprobs[1]), -8, 2}, {.beta = 0.5});
  };
  RowPass pass(network, rows, {}, true);
  const PairLoss pair = pair_loss(pass.token_log_probs());
  pass.Backward(
      RowValues{std::vector<double>(3, pair.d_chosen), std::vector<double>(2, pair.d_rejected)},
      {});
  for (const Parameter& p : network.trained()) {
    if (p.name != "model.norm.weight") continue;
    ExpectGradient(p.value, p.gradient.clone(), [&] {
      network.Refresh();
      return pair_loss(RowPass(network, rows, {}, false).token_log_probs()).loss;
    });
  }
}

}  // namespace
}  // namespace agentr
