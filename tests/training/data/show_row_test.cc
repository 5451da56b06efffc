#include "training/data/show_row.h"

#include <gmock/gmock.h>

#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

TEST(ShowRow, TrainedTokensAreMarked) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  TrainingRow row;
  row.ids = text.tokenizer->Encode("<|im_start|>assistant\nI do<|im_end|>\n");
  const auto end = static_cast<int32_t>(row.ids.size()) - 1;
  row.trained = {{end - 3, end - 1, TargetKind::kRevision}, {end - 1, end, TargetKind::kGood}};
  EXPECT_EQ(ShowRow(row, *text.tokenizer, false),
            "<|im_start|>assistant\\n\n⟦I do⟧⟦<|im_end|>⟧\\n\n\n");
  EXPECT_EQ(ShowRow(row, *text.tokenizer, true),
            "<|im_start|>assistant\\n\n\x1b[33mI do\x1b[0m\x1b[32m<|im_end|>\x1b[0m\\n\n\n");
}

TEST(ShowRow, ARowCannotColourTheTerminal) {
  const RowTokenizer text = GoldenRowTokenizer("qwen2");
  TrainingRow row;
  row.ids = text.tokenizer->Encode("\x1b[31mred\x1b]0;title\a");
  EXPECT_EQ(ShowRow(row, *text.tokenizer, true), "\\x1b[31mred\\x1b]0;title\\x07\n");
}

}  // namespace
}  // namespace agentr
