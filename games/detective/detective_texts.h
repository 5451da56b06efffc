// The sentences of the game Detective that its rules and its readers share.
#pragma once

#include <array>
#include <string_view>

namespace agentr {

constexpr std::array<std::string_view, 4> kDirections = {"north", "east", "south", "west"};

// The index of the way back.
constexpr int Opposite(int direction) { return (direction + 2) % 4; }

// The third part of an observation after an action that cannot be taken, and after one that only
// looks.
constexpr std::string_view kNothingHappens = "That does nothing here.";
constexpr std::string_view kNothingNew = "Nothing has changed.";

// The beginnings of the first two parts.
constexpr std::string_view kRoomBefore = "You are at: ";
constexpr std::string_view kCarryBefore = "You carry";

// Around the direction of a door.
constexpr std::string_view kDangerBefore = "Behind the door to the ";
constexpr std::string_view kDangerAfter = " someone cocks a gun.";
constexpr std::string_view kLockedBefore = "The door to the ";
constexpr std::string_view kLockedAfter = " is locked.";

constexpr std::string_view kCulpritHere = " is here.";
constexpr std::string_view kDetectiveKey = "key";

}  // namespace agentr
