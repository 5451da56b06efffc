// Rows that are made for tests.
#pragma once

#include <string>
#include <vector>

#include "common/random.h"
#include "tests/common/fatal_error.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"
#include "training/data/row_tokenizer.h"
#include "training/data/training_row.h"

namespace agentr {

inline RowTokenizer RowTokenizerOf(std::unique_ptr<Tokenizer> tokenizer,
                                   const std::string& chat = "auto") {
  RowTokenizer text;
  text.tokenizer = std::move(tokenizer);
  text.chat = ChatTemplate::Make(chat, *text.tokenizer);
  return text;
}

inline RowTokenizer GoldenRowTokenizer(const std::string& kind, const std::string& chat = "auto") {
  RowTokenizer text = RowTokenizerOf(GoldenTokenizer(kind), chat);
  text.hash = "hash of " + kind;
  return text;
}

// A row of random tokens of an alphabet so small that rows begin alike, with random spans.
inline TrainingRow RandomRow(RandomStream& random, size_t most_tokens, uint64_t alphabet) {
  TrainingRow row;
  const size_t size = 1 + random.Below(most_tokens);
  for (size_t i = 0; i < size; ++i) row.ids.push_back(static_cast<int32_t>(random.Below(alphabet)));
  for (int32_t at = 1; at < static_cast<int32_t>(size);) {
    const auto end = at + 1 + static_cast<int32_t>(random.Below(3));
    if (random.Chance(0.5)) {
      row.trained.push_back({at, std::min(end, static_cast<int32_t>(size)),
                             static_cast<TargetKind>(random.Below(4))});
    }
    at = end;
  }
  return row;
}

}  // namespace agentr
