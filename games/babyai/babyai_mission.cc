#include "games/babyai/babyai_mission.h"

#include <fmt/format.h>

#include <algorithm>

namespace agentr {

std::string_view GridColorName(GridColor color) {
  static constexpr std::array<std::string_view, 6> kNames = {"red",    "green",  "blue",
                                                             "purple", "yellow", "grey"};
  return kNames[static_cast<size_t>(color)];
}

std::string_view GridTypeName(GridType type) {
  static constexpr std::array<std::string_view, 8> kNames = {"unseen", "empty", "wall", "floor",
                                                             "door",   "key",   "ball", "box"};
  return kNames[static_cast<size_t>(type)];
}

GridDescription::GridDescription(const BabyAiWorld& world, GridType of_type,
                                 std::optional<GridColor> of_color)
    : type(of_type), color(of_color) {
  for (size_t i = 0; i < world.objects().size(); ++i) {
    const GridCell look = world.objects()[i].look;
    objects[i] = look.type() == type && (!color || look.color() == *color);
  }
  RefreshPlaces(world);
}

void GridDescription::RefreshPlaces(const BabyAiWorld& world) {
  places.reset();
  for (size_t i = 0; i < world.objects().size(); ++i) {
    const GridPlace place = world.objects()[i].place;
    if (objects[i] && place != GridObject::kNowhere) {
      places.set(static_cast<size_t>(BabyAiGrid::IndexOf(place)));
    }
  }
}

std::string GridDescription::Text() const {
  return fmt::format("{} {}{}{}", objects.count() > 1 ? "a" : "the",
                     color ? GridColorName(*color) : "", color ? " " : "", GridTypeName(type));
}

bool BabyAiInstruction::Check(const BabyAiWorld& world, BabyAiAction action) {
  const int before = carried_before;
  carried_before = world.carried();
  const auto means = [](const GridDescription& description, int object) {
    return object != BabyAiWorld::kNone && description.objects[static_cast<size_t>(object)];
  };
  switch (kind) {
    case InstructionKind::kGoTo:
      return what.places[static_cast<size_t>(BabyAiGrid::IndexOf(world.front()))];
    case InstructionKind::kPickUp:
      return action == BabyAiAction::kPickUp && before == BabyAiWorld::kNone &&
             means(what, world.carried());
    case InstructionKind::kOpen:
      return action == BabyAiAction::kToggle && world.grid().At(world.front()).IsOpenDoor() &&
             means(what, world.ObjectAt(world.front()));
    case InstructionKind::kPutNext: {
      if (action != BabyAiAction::kDrop || !means(what, before)) return false;
      const GridPlace now = world.object(before).place;
      return now != GridObject::kNowhere && std::ranges::any_of(kGridSteps, [&](GridPlace step) {
               return beside.places[static_cast<size_t>(BabyAiGrid::IndexOf(now + step))];
             });
    }
  }
  return false;
}

std::string BabyAiInstruction::Text() const {
  switch (kind) {
    case InstructionKind::kGoTo:
      return "go to " + what.Text();
    case InstructionKind::kPickUp:
      return "pick up " + what.Text();
    case InstructionKind::kOpen:
      return "open " + what.Text();
    case InstructionKind::kPutNext:
      return fmt::format("put {} next to {}", what.Text(), beside.Text());
  }
  return "";
}

std::string BabyAiMission::Text() const {
  if (count_ == 1) return parts_[0].Text();
  return after_ ? fmt::format("{} after you {}", parts_[1].Text(), parts_[0].Text())
                : fmt::format("{}, then {}", parts_[0].Text(), parts_[1].Text());
}

int BabyAiMission::Horizon(int rooms) const {
  constexpr int kPerRoom = 64;
  int things = 0;
  for (const BabyAiInstruction& part : parts()) {
    things += part.kind == InstructionKind::kPutNext ? 2 : 1;
  }
  return things * kPerRoom * rooms;
}

bool BabyAiMission::Check(const BabyAiWorld& world, BabyAiAction action) {
  if (action == BabyAiAction::kDrop) {
    for (BabyAiInstruction& part : parts_) {
      part.what.RefreshPlaces(world);
      if (part.kind == InstructionKind::kPutNext) part.beside.RefreshPlaces(world);
    }
  }
  while (done_ < count_ && parts_[done_].Check(world, action)) ++done_;
  return done_ == count_;
}

}  // namespace agentr
