#include "games/babyai/babyai_world.h"

namespace agentr {

std::span<const std::string_view> BabyAiActionTexts() {
  static constexpr std::array<std::string_view, 6> kTexts = {
      "turn left", "turn right", "go forward", "pick up", "drop", "toggle"};
  return kTexts;
}

BabyAiWorld::BabyAiWorld(int rooms)
    : grid_(rooms),
      agent_{(rooms / 2) * (BabyAiGrid::kRoom - 1) + BabyAiGrid::kRoom / 2, BabyAiGrid::kRoom / 2} {
}

int BabyAiWorld::ObjectAt(GridPlace place) const {
  for (int i = 0; i < object_count_; ++i) {
    if (object(i).place == place) return i;
  }
  return kNone;
}

void BabyAiWorld::Add(GridPlace place, GridCell look) {
  grid_.Set(place, look);
  objects_[static_cast<size_t>(object_count_++)] = {GridCell(look.type(), look.color()), place};
}

void BabyAiWorld::Act(BabyAiAction action) {
  switch (action) {
    case BabyAiAction::kLeft:
      direction_ = TurnLeft(direction_);
      return;
    case BabyAiAction::kRight:
      direction_ = TurnRight(direction_);
      return;
    case BabyAiAction::kForward: {
      const GridCell ahead = grid_.At(front());
      if (ahead.IsEmpty() || ahead.IsOpenDoor()) agent_ = front();
      return;
    }
    case BabyAiAction::kPickUp:
      return PickUp();
    case BabyAiAction::kDrop:
      return Drop();
    case BabyAiAction::kToggle:
      return Toggle();
    case BabyAiAction::kDone:
      return;
  }
}

void BabyAiWorld::PickUp() {
  const GridPlace place = front();
  if (carried_ != kNone || !grid_.At(place).IsPortable()) return;
  carried_ = ObjectAt(place);
  objects_[static_cast<size_t>(carried_)].place = GridObject::kNowhere;
  grid_.Set(place, GridCell());
}

void BabyAiWorld::Drop() {
  const GridPlace place = front();
  if (carried_ == kNone || !grid_.At(place).IsEmpty()) return;
  GridObject& dropped = objects_[static_cast<size_t>(carried_)];
  dropped.place = place;
  grid_.Set(place, dropped.look);
  carried_ = kNone;
}

void BabyAiWorld::Toggle() {
  const GridPlace place = front();
  const GridCell cell = grid_.At(place);
  if (cell.type() == GridType::kBox) {  // it opens, holds nothing, and is gone
    objects_[static_cast<size_t>(ObjectAt(place))].place = GridObject::kNowhere;
    grid_.Set(place, GridCell());
    return;
  }
  if (!cell.IsDoor()) return;
  const GridCell key(GridType::kKey, cell.color());
  if (cell.state() == DoorState::kLocked && (carried_ == kNone || object(carried_).look != key)) {
    return;
  }
  const bool opens = cell.state() != DoorState::kOpen;
  grid_.Set(place, {GridType::kDoor, cell.color(), opens ? DoorState::kOpen : DoorState::kClosed});
}

}  // namespace agentr
