// A pass whose rows are divided among processes is that of one process.
#include "rl/losses/shared_pass.h"

#include <gtest/gtest.h>

#include "tests/training/distributed/thread_group.h"
#include "tests/training/finite_difference.h"
#include "tests/training/tiny_network.h"
#include "training/trainer.h"

namespace agentr {
namespace {

TrainingRow TrainedRow(std::vector<int32_t> ids, int32_t trained) {
  const auto length = static_cast<int32_t>(ids.size());
  return {std::move(ids), {{length - trained, length}}};
}

std::vector<TrainingRow> Rows() {
  return {TrainedRow({5, 6, 7, 8, 1, 2}, 2), TrainedRow({5, 6, 7, 8, 1, 4}, 2),
          TrainedRow({5, 6, 9, 1, 2, 3}, 3), TrainedRow({11, 3, 7}, 1),
          TrainedRow({5, 6, 9, 4, 4, 4, 2, 1}, 4)};
}

// What a step of the optimiser comes from and leads to.
struct Step {
  RowValues token_log_probs;
  at::Tensor log_probs, states;
  int64_t row_tokens = 0;
  std::vector<at::Tensor> weights;
};

Step TakeStep(ProcessGroup* group) {
  Network network = TrainedNetwork("qwen2");
  AdamWOptions adamw;
  // The keys' bias has a gradient of 0, whose rounding errors must not become whole steps.
  adamw.epsilon = 1e-3;
  Trainer trainer(network, adamw, std::vector<Parameter>(), group);
  const std::vector<TrainingRow> rows = Rows();
  const std::vector<RowToken> tokens = {{4, 2}, {0, 3}, {3, 1}};  // in any order
  SharedPass pass(group, network, rows, tokens, /*keep=*/true);
  Step step{pass.token_log_probs(), pass.log_probs(), pass.states(), pass.row_tokens(), {}};
  pass.Backward(RandomTensor({5}, 1), RandomTensor({3, network.config().hidden_size}, 2));
  trainer.UpdateFor(1, 0.1);
  for (const Parameter& p : network.trained()) step.weights.push_back(p.value.clone());
  return step;
}

TEST(SharedPass, IsThatOfOneProcess) {
  const Step one = TakeStep(nullptr);
  for (const int size : {2, 3, 7}) {  // 7: some have no row
    ThreadGroups::Run(size, [&](ProcessGroup& group) {
      const Step step = TakeStep(&group);
      ASSERT_EQ(step.token_log_probs.size(), one.token_log_probs.size());
      for (size_t r = 0; r < one.token_log_probs.size(); ++r) {
        ASSERT_EQ(step.token_log_probs[r].size(), one.token_log_probs[r].size());
        for (size_t t = 0; t < one.token_log_probs[r].size(); ++t) {
          EXPECT_NEAR(step.token_log_probs[r][t], one.token_log_probs[r][t], 1e-5);
        }
      }
      EXPECT_TRUE(at::allclose(step.log_probs, one.log_probs, 1e-5, 1e-5));
      EXPECT_TRUE(at::allclose(step.states, one.states, 1e-4, 1e-5));
      EXPECT_EQ(step.row_tokens, one.row_tokens);
      for (size_t i = 0; i < one.weights.size(); ++i) {
        EXPECT_TRUE(at::allclose(step.weights[i], one.weights[i], 1e-3, 1e-4)) << i;
      }
    });
  }
}

TEST(SharedPass, StretchesOfRowsHaveAboutEqualTokens) {
  const std::vector<TrainingRow> rows = Rows();
  const std::vector<const TrainingRow*> pointers = PointersTo(rows);
  EXPECT_EQ(OwnRows(nullptr, pointers).end, rows.size());
  for (const int size : {2, 3, 7}) {
    std::vector<size_t> begins(static_cast<size_t>(size)), ends(static_cast<size_t>(size));
    ThreadGroups::Run(size, [&](ProcessGroup& group) {
      const RowRange own = OwnRows(&group, pointers);
      begins[static_cast<size_t>(group.rank())] = own.begin;
      ends[static_cast<size_t>(group.rank())] = own.end;
      int64_t tokens = 0;
      for (size_t r = own.begin; r < own.end; ++r) {
        tokens += static_cast<int64_t>(rows[r].ids.size());
      }
      EXPECT_LE(tokens, 29 / size + 8);  // 29 tokens in all, at most 8 in a row
    });
    EXPECT_EQ(begins.front(), 0U);
    EXPECT_EQ(ends.back(), rows.size());
    for (size_t r = 1; r < begins.size(); ++r) EXPECT_EQ(begins[r], ends[r - 1]);
  }
}

TEST(ProcessGroup, TextsOfAllRanksAreGathered) {
  const std::vector<std::string> texts = {"one", "", std::string("\xff\0\x80z", 4)};
  ThreadGroups::Run(3, [&](ProcessGroup& group) {
    EXPECT_EQ(GatherTexts(group, texts[static_cast<size_t>(group.rank())]), texts);
    EXPECT_EQ(GatherTexts(group, ""), std::vector<std::string>(3));
  });
}

}  // namespace
}  // namespace agentr
