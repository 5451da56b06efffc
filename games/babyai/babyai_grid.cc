#include "games/babyai/babyai_grid.h"

namespace agentr {

BabyAiGrid::BabyAiGrid(int rooms) : width_(rooms * (kRoom - 1) + 1) {
  cells_.fill(GridCell::Wall());
  for (int room = 0; room < rooms; ++room) {
    for (int y = 1; y < kRoom - 1; ++y) {
      for (int x = 1; x < kRoom - 1; ++x) Set({room * (kRoom - 1) + x, y}, GridCell());
    }
  }
}

}  // namespace agentr
