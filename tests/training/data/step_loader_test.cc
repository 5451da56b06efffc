#include "training/data/step_loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/common/scratch_folder.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

std::string ChatRows(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += fmt::format(
        R"({{"messages":[{{"role":"user","content":"number {}"}},{{"role":"assistant","content":"{}"}}]}})"
        "\n",
        i / 3, std::string(static_cast<size_t>(1 + i % 17), 'a'));
  }
  return text;
}

class StepLoaderTest : public ::testing::Test {
 protected:
  DataOptions Options(const std::string& rows) {
    return {.data = {folder_.Write("rows.jsonl", rows).string()},
            .held_out = 0,
            .max_length = 100,
            .batch_rows = 10,
            .batch_tokens = 120};
  }

  const ScratchFolder folder_;
  const RowTokenizer text_ = GoldenRowTokenizer("qwen2");
};

TEST_F(StepLoaderTest, GivesTheStepsInOrderFromWhereItBegins) {
  TrainingData data(Options(ChatRows(35)), text_), other(Options(ChatRows(35)), text_);
  for (const int64_t first : {0, 3, 9}) {
    StepLoader loader(data, first);
    for (int64_t i = first; i < first + 6; ++i) {
      const LoadedStep step = loader.Next();
      const StepRows rows = other.ReadStep(i);
      EXPECT_EQ(step.step, i);
      EXPECT_EQ(step.epoch, i / 4);
      EXPECT_EQ(step.counts, rows.counts);
      EXPECT_EQ(step.weight, static_cast<double>(rows.counts.trained));
      int64_t count = 0, tokens = 0;
      double weight = 0;
      for (const Batch& batch : step.batches) {
        EXPECT_LE(std::ssize(batch.tokens), 120);
        count += batch.rows;
        tokens += batch.row_tokens;
        weight += batch.weight();
      }
      EXPECT_EQ(count, std::ssize(rows.rows));
      EXPECT_EQ(tokens, rows.counts.tokens);
      EXPECT_EQ(weight, step.weight);
    }
  }
}

TEST_F(StepLoaderTest, RanksShareAStepBetweenThem) {
  DataOptions options = Options(ChatRows(35));
  TrainingData data(options, text_);
  for (const bool share : {true, false}) {
    options.share_prefixes = share;
    for (int64_t i = 0; i < 4; ++i) {
      const StepRows rows = data.ReadStep(i);
      for (const int ranks : {1, 2, 3, 20}) {
        double weight = 0;
        int64_t count = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          for (const Batch& batch :
               MicroBatches(rows.rows, options, {.rank = rank, .ranks = ranks})) {
            weight += batch.weight();
            count += batch.rows;
          }
        }
        EXPECT_EQ(count, std::ssize(rows.rows)) << ranks;
        EXPECT_EQ(weight, static_cast<double>(rows.counts.trained)) << ranks;
      }
    }
  }
}

TEST_F(StepLoaderTest, AnErrorComesAfterTheStepsBeforeIt) {
  TrainingData data(Options(ChatRows(35) + "{\"messages\": 5}\n"), text_);
  StepLoader loader(data, 0);
  const std::string refusal = FatalErrorOf([&] {
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(loader.Next().step, i);
  });
  EXPECT_THAT(refusal, HasSubstr("rows.jsonl:36: the list of messages is empty"));
  EXPECT_THAT(FatalErrorOf([&] { loader.Next(); }), HasSubstr("rows.jsonl:36"));
}

TEST_F(StepLoaderTest, CanBeLeftAtAnyTime) {
  TrainingData data(Options(ChatRows(35)), text_), other(Options(ChatRows(35)), text_);
  for (int i = 0; i < 50; ++i) {
    { const StepLoader left(data, i, {.ahead = 1 + i % 3}); }
    const LoadedStep next = StepLoader(data, 49 - i).Next();
    EXPECT_EQ(next.step, 49 - i);
    EXPECT_EQ(next.counts, other.ReadStep(49 - i).counts);
  }
}

}  // namespace
}  // namespace agentr
