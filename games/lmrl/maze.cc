#include "games/lmrl/maze.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/hash.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 10> kMap = {
    "#############",  //
    "#.....#.....#",  //
    "###.#####.###",  //
    "###.#####.###",  //
    "###.#####.###",  //
    "###.......###",  //
    "######.######",  //
    "######.######",  //
    "######.######",  //
    "#############",
};

// In the order of the server's games.
constexpr std::array<MazePlace, Maze::kBeginnings> kBegins = {{
    {1, 1},  {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 7}, {1, 8}, {1, 9}, {1, 10},
    {1, 11}, {2, 3}, {3, 3}, {4, 3}, {5, 3}, {5, 4}, {5, 5}, {5, 6}, {6, 6},
    {7, 6},  {5, 7}, {5, 8}, {5, 9}, {4, 9}, {3, 9}, {2, 9},
}};

struct Side {
  std::string_view where;
  int down, right;
};
// In the order in which walls are told.
constexpr std::array<Side, 4> kSides = {
    {{"to your right", 0, 1}, {"to your left", 0, -1}, {"above you", -1, 0}, {"below you", 1, 0}}};

std::string MazeView(MazePlace place) {
  std::vector<std::string_view> walls;
  for (const Side& side : kSides) {
    if (!IsFree({place.row + side.down, place.column + side.right})) walls.push_back(side.where);
  }
  const std::string told = walls.empty() ? "There are no walls near you."
                           : walls.size() == 1
                               ? fmt::format("There is a wall {}.", walls[0])
                               : fmt::format("There are walls {}.", fmt::join(walls, ", "));
  return fmt::format(
      "The goal is at position {}, {}. Your current position is at position {}, {}. {}",
      kMazeGoal.row, kMazeGoal.column, place.row, place.column, told);
}

}  // namespace

bool IsFree(MazePlace place) {
  if (place.row < 0 || place.row >= static_cast<int>(kMap.size())) return false;
  const std::string_view line = kMap[static_cast<size_t>(place.row)];
  return place.column >= 0 && place.column < static_cast<int>(line.size()) &&
         line[static_cast<size_t>(place.column)] == '.';
}

MazePlace MazeAfter(MazePlace place, std::string_view action) {
  const auto* const move = std::ranges::find(kMazeMoves, action, &MazeMove::action);
  if (move == kMazeMoves.end()) return place;
  const MazePlace next = {place.row + move->down, place.column + move->right};
  return IsFree(next) ? next : place;
}

std::optional<MazeState> Maze::Start(int64_t game) const {
  if (game < 0 || game >= task_count()) return std::nullopt;
  MazeState state{.place = kBegins[static_cast<size_t>(game % kBeginnings)]};
  state.observation = MazeView(state.place);
  return state;
}

void Maze::Step(MazeState& state, std::string_view action) const {
  if (state.steps >= MazeState::kMostSteps) {
    state.over = true;
    state.reward = state.score = -1;
    state.observation = "Failure\n";
    return;
  }
  ++state.steps;
  state.place = MazeAfter(state.place, action);
  state.over = state.place == kMazeGoal;
  state.reward = state.score = state.over ? 1 : 0;
  state.observation = state.over ? "Success\n" : MazeView(state.place);
}

std::vector<std::string_view> Maze::Listed(const MazeState* /*state*/) const {
  std::vector<std::string_view> actions;
  for (const MazeMove& move : kMazeMoves) actions.push_back(move.action);
  return actions;
}

std::string Maze::DataHash() const { return Sha256(fmt::format("{}", fmt::join(kMap, "\n"))); }

}  // namespace agentr
