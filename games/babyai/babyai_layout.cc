#include "games/babyai/babyai_layout.h"

#include <array>
#include <optional>

namespace agentr {
namespace {

// The original draws a colour from its names in alphabetical order.
constexpr std::array kColorsByName = {GridColor::kBlue,   GridColor::kGreen, GridColor::kGrey,
                                      GridColor::kPurple, GridColor::kRed,   GridColor::kYellow};
constexpr std::array kDrawnTypes = {GridType::kKey, GridType::kBall, GridType::kBox};
constexpr std::array kTrainDoors = {GridColor::kYellow, GridColor::kGreen, GridColor::kBlue,
                                    GridColor::kPurple};
constexpr std::array kTestDoors = {GridColor::kRed, GridColor::kGrey};

constexpr int kMostTries = 1001;  // at one place, before the whole layout is drawn anew
constexpr int kStrideOfRooms = BabyAiGrid::kRoom - 1;

bool LookSame(const GridObject& a, const GridObject& b) { return a.look == b.look; }

// Draws one layout. A step that returns false has run out of tries: begin anew.
class LayoutDraft {
 public:
  LayoutDraft(const BabyAiLevel& level, BabyAiTask task, Pcg64& random)
      : level_(level), task_(task), random_(random) {}

  BabyAiLayout Draw() {
    for (;;) {
      DrawWalls();
      if (Generate() && IsSensible()) return {world_, mission_};
    }
  }

 private:
  int rooms() const { return task_ == BabyAiTask::kOpen ? 2 : 1; }

  int Below(int n) { return static_cast<int>(random_.Integers(0, n)); }

  template <typename Items>
  auto Pick(const Items& items) {
    return items[static_cast<size_t>(Below(static_cast<int>(items.size())))];
  }

  void DrawWalls() {
    world_ = BabyAiWorld(rooms());
    if (rooms() == 2) door_row_ = static_cast<int>(random_.Integers(1, BabyAiGrid::kRoom - 1));
  }

  bool Generate() {
    for (;;) {
      // The original's own levels leave the walls as they are, but then nothing is drawn for them.
      DrawWalls();
      if (!(task_ == BabyAiTask::kOpen ? DrawOpen() : DrawOneRoom())) return false;
      if (AllReachable() && MayNameAll()) return true;
    }
  }

  // A cell of the room at `room`, by the original's rejection sampling; walls count as occupied.
  template <typename Accept>
  std::optional<GridPlace> DrawPlace(int room, const Accept& accept) {
    const int left = room * kStrideOfRooms;
    for (int i = 0; i < kMostTries; ++i) {
      const int x = left + Below(BabyAiGrid::kRoom);
      const int y = Below(BabyAiGrid::kRoom);
      if (world_.grid().At({x, y}).IsEmpty() && accept(GridPlace{x, y})) return GridPlace{x, y};
    }
    return std::nullopt;
  }

  bool PlaceAgent() {
    const int room = Below(rooms());
    for (;;) {
      const std::optional<GridPlace> place = DrawPlace(room, [](GridPlace) { return true; });
      if (!place) return false;
      world_.PlaceAgent(*place, Below(4));
      const GridCell ahead = world_.grid().At(world_.front());
      if (ahead.IsEmpty() || ahead.type() == GridType::kWall) return true;
    }
  }

  bool PlaceObject(int room, GridCell look) {
    const std::optional<GridPlace> place =
        DrawPlace(room, [&](GridPlace at) { return GridDistance(at, world_.agent()) >= 2; });
    if (!place) return false;
    world_.Add(*place, look);
    return true;
  }

  // In `room`, or else in a drawn one.
  bool PlaceDistractors(int count, std::optional<int> room) {
    for (int i = 0; i < count; ++i) {
      const GridColor color = Pick(kColorsByName);
      const GridType type = Pick(kDrawnTypes);
      if (!PlaceObject(room ? *room : Below(rooms()), {type, color})) return false;
    }
    return true;
  }

  int Distractors() const {
    if (level_.distractors > 0) return level_.distractors;
    const bool two = task_ == BabyAiTask::kPutNext || task_ == BabyAiTask::kSequence;
    return two ? 10 : 9;
  }

  bool DrawOneRoom() {
    if (!PlaceAgent()) return false;
    if (level_.goal && !PlaceObject(0, *level_.goal)) return false;
    if (!PlaceDistractors(Distractors(), std::nullopt)) return false;
    // A layout with an unreachable object still draws its mission, except in BabyAI's own levels.
    if (level_.distractors > 0 && !AllReachable()) return false;
    const auto describe = [&](int object) {
      const GridCell look = world_.object(object).look;
      return GridDescription(world_, look.type(), look.color());
    };
    const int count = static_cast<int>(world_.objects().size());
    if (task_ == BabyAiTask::kGoTo || task_ == BabyAiTask::kPickUp) {
      const int object = level_.goal ? 0 : Below(count);
      const bool go = task_ == BabyAiTask::kGoTo;
      mission_ =
          BabyAiMission({go ? InstructionKind::kGoTo : InstructionKind::kPickUp, describe(object)});
      return true;
    }
    const int first = Below(count);
    const int second = DrawSecond(first, count);
    if (task_ == BabyAiTask::kPutNext) {
      mission_ = BabyAiMission({InstructionKind::kPutNext, describe(first), describe(second)});
      return true;
    }
    const bool after =
        level_.text == SequenceText::kDrawn ? Below(2) == 1 : level_.text == SequenceText::kAfter;
    mission_ = BabyAiMission({InstructionKind::kPickUp, describe(first)},
                             {InstructionKind::kGoTo, describe(second)}, after);
    return true;
  }

  // Another object than `first`, unless there are several that look like it.
  int DrawSecond(int first, int count) {
    const auto same = [&](int object) {
      return LookSame(world_.object(object), world_.object(first));
    };
    int second = Below(count);
    if (!same(second)) return second;
    int alike = 0;
    for (int i = 0; i < count; ++i) alike += same(i) ? 1 : 0;
    while (alike < 2 && same(second)) second = Below(count);
    return second;
  }

  bool DrawOpen() {
    const bool test = level_.pairs == NamedPairs::kTest;
    const GridColor color = test ? Pick(kTestDoors) : Pick(kTrainDoors);
    // A room and one of its four sides, until there is a neighbour on that side.
    int locked = 0;
    for (int side = -1; side != (locked == 0 ? 0 : 2);) {
      locked = Below(2);
      side = Below(4);
    }
    const GridPlace door = {kStrideOfRooms, door_row_};
    world_.Add(door, {GridType::kDoor, color, DoorState::kLocked});
    int room = locked;
    while (room == locked) room = Below(2);
    const int others = level_.distractors > 0 ? level_.distractors : 8;
    if (!PlaceObject(room, {GridType::kKey, color}) || !PlaceDistractors(others, room)) {
      return false;
    }
    do {
      if (!PlaceAgent()) return false;
    } while (world_.agent().x / kStrideOfRooms == locked);
    const bool named = test || Below(2) == 1;
    mission_ = BabyAiMission(
        {InstructionKind::kOpen,
         GridDescription(world_, GridType::kDoor, named ? std::optional(color) : std::nullopt)});
    return true;
  }

  // Every object is beside a cell that the agent can walk to, through doors in any state.
  bool AllReachable() const {
    std::bitset<BabyAiGrid::kCells> reached;
    std::array<GridPlace, BabyAiGrid::kWidest * BabyAiGrid::kRoom> stack;
    size_t size = 0;
    const auto reach = [&](GridPlace place) {
      const auto index = static_cast<size_t>(BabyAiGrid::IndexOf(place));
      if (reached[index]) return;
      reached[index] = true;
      const GridCell cell = world_.grid().At(place);
      if (cell.IsEmpty() || cell.IsDoor()) stack[size++] = place;
    };
    reach(world_.agent());
    while (size > 0) {
      const GridPlace place = stack[--size];
      for (const GridPlace step : kGridSteps) reach(place + step);
    }
    for (const GridObject& object : world_.objects()) {
      if (!reached[static_cast<size_t>(BabyAiGrid::IndexOf(object.place))]) return false;
    }
    return true;
  }

  bool MayName(const GridDescription& description) const {
    // A mission that names no colour names no pair.
    return !description.color || level_.MayName({description.type, *description.color});
  }

  bool MayNameAll() const {
    for (const BabyAiInstruction& part : mission_.parts()) {
      if (!MayName(part.what)) return false;
      if (part.kind == InstructionKind::kPutNext && !MayName(part.beside)) return false;
    }
    return true;
  }

  // The original rejects a mission to put next to each other what is so already, or what may be the
  // same object.
  bool IsSensible() const {
    const BabyAiInstruction& only = mission_.parts().front();
    if (only.kind != InstructionKind::kPutNext) return true;
    if ((only.what.objects & only.beside.objects).any()) return false;
    for (size_t i = 0; i < world_.objects().size(); ++i) {
      if (!only.what.objects[i]) continue;
      for (const GridPlace step : kGridSteps) {
        const GridPlace next = world_.objects()[i].place + step;
        if (only.beside.places[static_cast<size_t>(BabyAiGrid::IndexOf(next))]) return false;
      }
    }
    return true;
  }

  const BabyAiLevel& level_;
  const BabyAiTask task_;
  Pcg64& random_;
  BabyAiWorld world_;
  BabyAiMission mission_;
  int door_row_ = 0;
};

}  // namespace

BabyAiLayout DrawLayout(const BabyAiLevel& level, BabyAiTask task, Pcg64& random) {
  return LayoutDraft(level, task, random).Draw();
}

}  // namespace agentr
