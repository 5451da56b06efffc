#include "games/detective/detective_case.h"

#include <map>
#include <utility>

#include "common/config_lines.h"
#include "common/random.h"
#include "common/text.h"
#include "games/detective/detective_texts.h"

namespace agentr {
namespace embedded {
extern const std::string_view kDetectiveMansion;
}  // namespace embedded

namespace {

constexpr size_t kFewestRooms = 8;
constexpr size_t kMoreRooms = 4;
constexpr size_t kFewestClues = 3;
constexpr size_t kMoreClues = 2;
constexpr int kMostDangers = 2;
constexpr double kShortcuts = 0.3;  // of the neighbours that could have a door

using Cell = std::pair<int, int>;
constexpr std::array<Cell, 4> kSteps = {Cell{0, -1}, Cell{1, 0}, Cell{0, 1}, Cell{-1, 0}};

Cell Neighbour(Cell cell, int direction) {
  return {cell.first + kSteps[direction].first, cell.second + kSteps[direction].second};
}

Mansion ReadMansion(std::string_view text) {
  Mansion mansion;
  ConfigLines lines(text, "configs/detective/mansion.txt");
  while (lines.Next()) {
    const std::string_view kind = lines.line().substr(0, lines.line().find(' '));
    const std::string_view rest = Trim(lines.line().substr(kind.size()));
    const size_t bar = rest.find(" | ");
    if (kind == "room" && bar != std::string_view::npos) {
      mansion.rooms.push_back({rest.substr(0, bar), rest.substr(bar + 3)});
    } else if (kind == "clue" && !rest.empty()) {
      mansion.clues.push_back(rest);
    } else if (kind == "person" && !rest.empty()) {
      mansion.people.push_back(rest);
    } else {
      lines.Stop("expected \"room NAME | TEXT\", \"clue NAME\" or \"person NAME\"");
    }
  }
  return mansion;
}

// A house on a grid: rooms grow from the gate, each behind a door of an earlier one.
class CaseDraft {
 public:
  CaseDraft(const Mansion& mansion, int64_t task_id)
      : mansion_(mansion),
        random_(RandomStream(static_cast<uint64_t>(task_id)).Split("detective")) {}

  DetectiveCase Make() {
    AddRooms();
    AddHidingPlace();
    AddShortcuts();
    AddDangers();
    AddThings();
    return std::move(case_);
  }

 private:
  int Add(const MansionRoom& room, Cell cell) {
    const int index = static_cast<int>(case_.rooms.size());
    case_.rooms.push_back({room, {kNoDoor, kNoDoor, kNoDoor, kNoDoor}, {}});
    cells_.push_back(cell);
    at_[cell] = index;
    return index;
  }

  // A new room behind a free side of a random room.
  int Grow(const MansionRoom& room) {
    while (true) {
      const int from = static_cast<int>(random_.Below(case_.rooms.size()));
      const int direction = static_cast<int>(random_.Below(4));
      const Cell cell = Neighbour(cells_[from], direction);
      if (at_.contains(cell)) continue;
      const int to = Add(room, cell);
      Connect(from, direction, to);
      return to;
    }
  }

  void Connect(int from, int direction, int to) {
    case_.rooms[from].doors[direction] = to;
    case_.rooms[to].doors[Opposite(direction)] = from;
  }

  void AddRooms() {
    const size_t count = kFewestRooms + random_.Below(kMoreRooms + 1);
    std::vector<MansionRoom> others(mansion_.rooms.begin() + 1, mansion_.rooms.end());
    others = random_.Sample(std::move(others), count - 1);
    Add(mansion_.rooms.front(), {0, 0});
    for (size_t i = 0; i + 1 < others.size(); ++i) Grow(others[i]);
    last_ = others.back();
  }

  void AddHidingPlace() {
    case_.culprit = random_.Pick(mansion_.people);
    case_.hiding_place = Grow(last_);
  }

  void AddShortcuts() {
    for (int from = 0; from < case_.hiding_place; ++from) {
      for (int direction = 0; direction < 2; ++direction) {
        const auto to = at_.find(Neighbour(cells_[from], direction));
        if (to == at_.end() || to->second == case_.hiding_place) continue;
        if (case_.rooms[from].doors[direction] != kNoDoor) continue;
        if (random_.Chance(kShortcuts)) Connect(from, direction, to->second);
      }
    }
  }

  void AddDangers() {
    for (int i = 0; i < kMostDangers; ++i) {
      const uint64_t room = random_.Below(static_cast<uint64_t>(case_.hiding_place));
      int& door = case_.rooms[room].doors[random_.Below(4)];
      if (door == kNoDoor) door = kDanger;
    }
  }

  void AddThings() {
    case_.things = random_.Sample(mansion_.clues, kFewestClues + random_.Below(kMoreClues + 1));
    case_.things.insert(case_.things.begin(), kDetectiveKey);
    std::vector<int> rooms;
    for (int i = 1; i < case_.hiding_place; ++i) rooms.push_back(i);
    rooms = random_.Sample(std::move(rooms), case_.things.size());
    for (size_t i = 0; i < rooms.size(); ++i) {
      case_.rooms[rooms[i]].things.push_back(static_cast<int>(i));
    }
  }

  const Mansion& mansion_;
  RandomStream random_;
  DetectiveCase case_;
  std::vector<Cell> cells_;  // of each room
  std::map<Cell, int> at_;
  MansionRoom last_;
};

}  // namespace

const Mansion& Mansion::BuiltIn() {
  static const Mansion mansion = ReadMansion(embedded::kDetectiveMansion);
  return mansion;
}

DetectiveCase MakeCase(const Mansion& mansion, int64_t task_id) {
  return CaseDraft(mansion, task_id).Make();
}

}  // namespace agentr
