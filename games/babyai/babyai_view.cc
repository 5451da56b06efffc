#include "games/babyai/babyai_view.h"

#include <fmt/format.h>

#include "games/babyai/babyai_mission.h"

namespace agentr {
namespace {

constexpr int kViewSize = BabyAiView::kSize;
constexpr int kAgentRow = kViewSize - 1;

// What the cells of one row show: bit c stands for column c.
struct SeenRow {
  uint8_t row;    // which of its cells are seen
  uint8_t ahead;  // which cells of the row before it are seen from them
};

// MiniGrid's rule for one row: sight spreads to the right and then to the left, each time also
// ahead.
constexpr SeenRow SpreadSight(unsigned seen, unsigned clear) {
  unsigned ahead = 0;
  for (int c = 0; c < kViewSize - 1; ++c) {
    if ((seen & clear) >> c & 1U) {
      seen |= 2U << c;
      ahead |= 3U << c;
    }
  }
  for (int c = kViewSize - 1; c > 0; --c) {
    if ((seen & clear) >> c & 1U) {
      seen |= 1U << (c - 1);
      ahead |= 3U << (c - 1);
    }
  }
  return {static_cast<uint8_t>(seen), static_cast<uint8_t>(ahead)};
}

// By the cells that are seen so far and those that do not block sight; 32 KiB.
const SeenRow& SightOf(unsigned seen, unsigned clear) {
  static const auto table = [] {
    std::array<SeenRow, 1U << (2 * kViewSize)> rows = {};
    for (unsigned i = 0; i < rows.size(); ++i) {
      rows[i] = SpreadSight(i >> kViewSize, i & ((1U << kViewSize) - 1));
    }
    return rows;
  }();
  return table[seen << kViewSize | clear];
}

// The words of all descriptions, made once.
class ViewWords {
 public:
  ViewWords() {
    for (unsigned bits = 0; bits < names_.size(); ++bits) {
      const auto type = static_cast<GridType>(bits & 7U);
      const unsigned color = bits >> 3 & 7U;
      const unsigned state = bits >> 6;
      if (type < GridType::kDoor || color > 5 || state > 2) continue;
      static constexpr std::array<std::string_view, 3> kStates = {"open ", "closed ", "locked "};
      const bool door = type == GridType::kDoor;
      names_[bits] = fmt::format("{}{} {}", door ? kStates[state] : "",
                                 GridColorName(static_cast<GridColor>(color)), GridTypeName(type));
    }
    for (int row = 0; row < kViewSize; ++row) {
      for (int column = 0; column < kViewSize; ++column)
        places_[Index(column, row)] = Place(column - BabyAiView::kMiddle, kAgentRow - row);
    }
  }

  const std::string& Name(GridCell cell) const { return names_[cell.bits()]; }
  const std::string& Where(int column, int row) const { return places_[Index(column, row)]; }

 private:
  static size_t Index(int column, int row) { return static_cast<size_t>(row * kViewSize + column); }

  static std::string Steps(int count, std::string_view side) {
    return fmt::format("{} step{} {}", count, count == 1 ? "" : "s", side);
  }

  static std::string Place(int right, int ahead) {
    std::string text;
    if (right != 0) text = right < 0 ? Steps(-right, "left") : Steps(right, "right");
    if (right != 0 && ahead != 0) text += " and ";
    if (ahead != 0) text += Steps(ahead, "forward");
    return text;
  }

  std::array<std::string, 256> names_;
  std::array<std::string, static_cast<size_t>(kViewSize* kViewSize)> places_;
};

const ViewWords& Words() {
  static const ViewWords words;
  return words;
}

}  // namespace

BabyAiView::BabyAiView(const BabyAiWorld& world) {
  const GridPlace ahead = kGridSteps[static_cast<size_t>(world.direction())];
  const int forward = ahead.y * BabyAiGrid::kStride + ahead.x;
  const int right = ahead.x * BabyAiGrid::kStride - ahead.y;
  const int agent = BabyAiGrid::IndexOf(world.agent());
  unsigned seen = 1U << kMiddle;
  for (int row = kAgentRow; row >= 0; --row) {
    const int left = agent + forward * (kAgentRow - row) - right * kMiddle;
    GridCell* const cells = &cells_[static_cast<size_t>(row * kSize)];
    unsigned clear = 0;
    for (int c = 0; c < kSize; ++c) {
      cells[c] = world.grid().AtIndex(left + right * c);
      clear |= (cells[c].BlocksSight() ? 0U : 1U) << c;
    }
    const SeenRow& sight = SightOf(seen, clear);
    for (int c = 0; c < kSize; ++c) {
      if ((sight.row >> c & 1) == 0) cells[c] = GridCell::Unseen();
    }
    seen = sight.ahead;
  }
  cells_[static_cast<size_t>(kAgentRow * kSize + kMiddle)] =
      world.carried() == BabyAiWorld::kNone ? GridCell() : world.object(world.carried()).look;
}

void AppendDescription(const BabyAiView& view, bool reference, std::string& out) {
  bool first = true;
  const auto say = [&](std::string_view a, std::string_view b, std::string_view c = "",
                       std::string_view d = "") {
    if (!first) out += ", ";
    first = false;
    out.append(a).append(b).append(c).append(d);
  };
  const ViewWords& words = Words();
  const GridCell carried = view.At(BabyAiView::kMiddle, kAgentRow);
  if (carried.IsPortable()) say("You carry a ", words.Name(carried));
  // A wall is named if it is the first thing in that direction.
  const auto look = [&](int right, int ahead) {
    for (int i = 1; i < kViewSize; ++i) {
      const int column = BabyAiView::kMiddle + i * right;
      const int row = kAgentRow - i * ahead;
      if (column < 0 || column >= kViewSize) return;
      const GridType type = view.At(column, row).type();
      if (type == GridType::kUnseen || type == GridType::kEmpty) continue;
      if (type == GridType::kWall) say("You see a wall ", words.Where(column, row));
      return;
    }
  };
  look(0, 1);
  look(-1, 0);
  look(1, 0);
  for (int column = 0; column < kViewSize; ++column) {
    for (int row = 0; row < kViewSize; ++row) {
      const GridCell cell = view.At(column, row);
      if (cell.type() < GridType::kDoor) continue;
      if (column == BabyAiView::kMiddle && row == kAgentRow) continue;
      const bool an = !reference && cell.IsOpenDoor();
      say(an ? "You see an " : "You see a ", words.Name(cell), " ", words.Where(column, row));
    }
  }
}

}  // namespace agentr
