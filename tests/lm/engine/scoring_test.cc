#include "lm/engine/scoring.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/lm/engine/small_engine.h"

namespace agentr {
namespace {

TEST(Scoring, ScoresContinuations) {
  for (const int max_batched_tokens : {3, 512}) {
    Model model(SmallShape(), {.max_batch = 4, .max_batched_tokens = max_batched_tokens});
    model.decoder.before_forward = [](std::span<const SequenceChunk> batch) {
      int32_t rows = 0;
      for (const SequenceChunk& slice : batch) rows += slice.logits;
      EXPECT_LE(rows, 2 * 4);  // rows take memory: of single tokens, and of pieces, max_batch each
    };
    const Tokens prompt = Numbers(0, 30);
    std::vector<Pending<ContinuationScores>> pending;
    std::vector<Tokens> continuations;
    for (int i = 0; i < 8; ++i) {
      continuations.push_back(Numbers(10 * i, 10 * i + 2 * i));
      pending.push_back(model.engine.Score({prompt, continuations.back()}));
    }
    for (size_t i = 0; i < 8; ++i) {
      const Result<ContinuationScores> scores = pending[i].Wait();
      ASSERT_TRUE(scores);
      ASSERT_EQ(scores->logprobs.size(), continuations[i].size());
      Tokens tokens = prompt;
      for (size_t j = 0; j < scores->logprobs.size(); ++j) {
        const std::vector<float> row = model.decoder.Logits(tokens);
        const int32_t token = continuations[i][j];
        EXPECT_NEAR(scores->logprobs[j], row[static_cast<size_t>(token)] - Sampler().LogSumExp(row),
                    1e-6);
        tokens.push_back(token);
      }
    }
    // The prompt's first 29 tokens once; its last one and the continuation each time.
    EXPECT_EQ(model.decoder.computed(), 29 + 2 + 4 + 6 + 8 + 10 + 12 + 14);
  }
}

TEST(Scoring, AScoreEqualsTheLogProbabilitiesOfTheGeneration) {
  Model model;
  const Generation generation = model.Run(Request(Numbers(0, 10), 20));
  const auto scores =
      model.engine.Score({Numbers(0, 10), generation.sequences[0].token_ids}).Wait();
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->logprobs, generation.sequences[0].logprobs);
}

}  // namespace
}  // namespace agentr
