// What an agent sees of a BabyAI world, and its description in words (BabyAI-Text, Carta et al.
// 2023).
#pragma once

#include <array>
#include <string>

#include "games/babyai/babyai_world.h"

namespace agentr {

// A window of 7 x 7 cells with the agent in the middle of its lowest row, looking up. Walls and
// doors that are not open hide what is behind them. Outside of the world there are walls.
class BabyAiView {
 public:
  static constexpr int kSize = 7;
  static constexpr int kMiddle = kSize / 2;

  explicit BabyAiView(const BabyAiWorld& world);

  // Column 0 is on the left, row 0 the farthest. The agent's own cell shows what it carries.
  GridCell At(int column, int row) const {
    return cells_[static_cast<size_t>(row * kSize + column)];
  }

 private:
  std::array<GridCell, static_cast<size_t>(kSize* kSize)> cells_;
};

// The sentences, without full stops, joined by ", ": what is carried, the walls ahead, to the left
// and to the right, then objects from the left column to the right one, each from far to near. The
// original says "a open door"; otherwise it is "an open door".
void AppendDescription(const BabyAiView& view, bool reference, std::string& out);

}  // namespace agentr
