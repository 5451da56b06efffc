// What a policy without language sees of BabyAI: MiniGrid's image of the view and the words of the
// mission as numbers (Carta et al. 2023, their symbolic baseline).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "games/babyai_batch.h"

namespace agentr {

// [3, 7, 7] (float): the numbers of type, colour and state of each cell, by column from the left
// and row from the farthest. 0 0 0 is unseen, 1 0 0 empty, 2 5 0 a wall, 4 a door (state 0 open,
// 1 closed, 2 locked), 5 a key, 6 a ball, 7 a box; colours are 0 red, 1 green, 2 blue, 3 purple,
// 4 yellow, 5 grey. The agent's own cell, column 3 of row 6, shows what it carries.
at::Tensor SymbolicImage(const BabyAiView& view);

// Words a-z by number, given at first sight from 1.
class MissionWords {
 public:
  // Throws FatalError(kUsage) for more different words than `most`.
  explicit MissionWords(int64_t most) : most_(most) {}

  std::vector<int64_t> Ids(std::string_view mission);

  const std::vector<std::string>& seen() const { return seen_; }
  void set_seen(std::vector<std::string> seen) { seen_ = std::move(seen); }

 private:
  int64_t most_;
  std::vector<std::string> seen_;
};

// All slots now.
struct SymbolicStates {
  static constexpr int64_t kMissionWords = 32;

  at::Tensor images;    // [slots, 3, 7, 7]
  at::Tensor missions;  // [slots, kMissionWords] (int64); 0 behind the last word
  at::Tensor goes_on;   // [slots, 1]: 0 where an episode begins, else 1
};
SymbolicStates ReadStates(const BabyAiBatch& batch, MissionWords& words);

}  // namespace agentr
