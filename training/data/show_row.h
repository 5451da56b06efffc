// Shows a row of training data for people to check.
#pragma once

#include <string>

#include "lm/tokenizer/tokenizer.h"
#include "training/data/training_row.h"

namespace agentr {

// The row's text, special tokens spelled out. Trained tokens are in colour (green: good rows and
// corrected actions, yellow: revision turns, cyan: other) or, without `color`, between ⟦ and ⟧.
// What could move the cursor or change the terminal is escaped: a line break is shown as \n and a
// line break, the rest as EscapeControls (common/text.h) has it.
std::string ShowRow(const TrainingRow& row, const Tokenizer& tokenizer, bool color);

}  // namespace agentr
