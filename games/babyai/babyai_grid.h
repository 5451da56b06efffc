// The grid of BabyAI (Chevalier-Boisvert et al. 2019): cells, directions, and the borders around
// the world. Pure data.
//
// Places are (x, y) from the top left corner; x grows to the right, y downwards. Codes of cells are
// those of MiniGrid's image observation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace agentr {

enum class GridType : uint8_t { kUnseen, kEmpty, kWall, kDoor = 4, kKey, kBall, kBox };
enum class GridColor : uint8_t { kRed, kGreen, kBlue, kPurple, kYellow, kGrey };
enum class DoorState : uint8_t { kOpen, kClosed, kLocked };

// What stands in one cell, in one byte. Only doors have another state than 0 (open).
class GridCell {
 public:
  constexpr GridCell() : GridCell(GridType::kEmpty, GridColor::kRed) {}
  constexpr GridCell(GridType type, GridColor color, DoorState state = DoorState::kOpen)
      : bits_(static_cast<uint8_t>(static_cast<unsigned>(type) | static_cast<unsigned>(color) << 3 |
                                   static_cast<unsigned>(state) << 6)) {}
  static constexpr GridCell Wall() { return {GridType::kWall, GridColor::kGrey}; }
  static constexpr GridCell Unseen() { return {GridType::kUnseen, GridColor::kRed}; }

  constexpr GridType type() const { return static_cast<GridType>(bits_ & 7U); }
  constexpr GridColor color() const { return static_cast<GridColor>(bits_ >> 3 & 7U); }
  constexpr DoorState state() const { return static_cast<DoorState>(bits_ >> 6); }
  constexpr uint8_t bits() const { return bits_; }

  constexpr bool IsEmpty() const { return type() == GridType::kEmpty; }
  constexpr bool IsDoor() const { return type() == GridType::kDoor; }
  constexpr bool IsOpenDoor() const { return IsDoor() && state() == DoorState::kOpen; }
  // A key, ball or box.
  constexpr bool IsPortable() const { return type() >= GridType::kKey; }
  constexpr bool BlocksSight() const {
    return type() == GridType::kWall || (IsDoor() && state() != DoorState::kOpen);
  }

  constexpr bool operator==(const GridCell&) const = default;

 private:
  uint8_t bits_;
};

struct GridPlace {
  int x = 0;
  int y = 0;

  constexpr GridPlace operator+(GridPlace other) const { return {x + other.x, y + other.y}; }
  constexpr bool operator==(const GridPlace&) const = default;
};

constexpr int GridDistance(GridPlace a, GridPlace b) {  // Manhattan
  return (a.x > b.x ? a.x - b.x : b.x - a.x) + (a.y > b.y ? a.y - b.y : b.y - a.y);
}

// Directions: 0 right, 1 down, 2 left, 3 up.
constexpr std::array<GridPlace, 4> kGridSteps = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
constexpr int TurnLeft(int direction) { return (direction + 3) % 4; }
constexpr int TurnRight(int direction) { return (direction + 1) % 4; }

// A world of one room (8 x 8 with its walls) or two side by side (15 x 8). All around it are walls,
// as far as an agent inside can see, so that a view needs no bounds.
class BabyAiGrid {
 public:
  static constexpr int kRoom = 8;     // cells across a room, with both walls
  static constexpr int kWidest = 15;  // of two rooms, which share a wall
  static constexpr int kBorder = 6;   // an agent sees six cells ahead
  static constexpr int kStride = kWidest + 2 * kBorder;
  static constexpr int kCells = kStride * (kRoom + 2 * kBorder);

  // Empty rooms; with two, a wall without a door between them.
  explicit BabyAiGrid(int rooms = 1);

  int width() const { return width_; }
  static constexpr int height() { return kRoom; }

  static constexpr int IndexOf(GridPlace p) { return (p.y + kBorder) * kStride + p.x + kBorder; }
  GridCell At(GridPlace place) const { return cells_[static_cast<size_t>(IndexOf(place))]; }
  // By IndexOf, for a place that may lie in the border.
  GridCell AtIndex(int index) const { return cells_[static_cast<size_t>(index)]; }
  void Set(GridPlace place, GridCell cell) { cells_[static_cast<size_t>(IndexOf(place))] = cell; }

  bool operator==(const BabyAiGrid&) const = default;

 private:
  int width_;
  std::array<GridCell, kCells> cells_;
};

}  // namespace agentr
