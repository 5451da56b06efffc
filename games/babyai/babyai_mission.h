// The mission of a BabyAI episode: what its text says and when it is reached.
//
// The rules are those of BabyAI's verifier, with two properties that one might take for mistakes:
// - Which objects a description means is settled at the beginning, and where they are is only
//   brought up to date after a drop. So the old place of an object that was picked up still counts
//   as a place to go to.
// - In a sequence, the step that completes the first part is tried on the second part too.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "games/babyai/babyai_world.h"

namespace agentr {

// The objects of a world that look as described.
struct GridDescription {
  GridType type = GridType::kBall;
  std::optional<GridColor> color = std::nullopt;  // any, if not given
  ObjectSet objects = {};
  std::bitset<BabyAiGrid::kCells> places = {};  // by BabyAiGrid::IndexOf

  GridDescription() = default;
  GridDescription(const BabyAiWorld& world, GridType of_type, std::optional<GridColor> of_color);

  void RefreshPlaces(const BabyAiWorld& world);
  std::string Text() const;  // "the red ball", "a ball"

  bool operator==(const GridDescription&) const = default;
};

enum class InstructionKind { kGoTo, kPickUp, kOpen, kPutNext };

// One thing to do.
struct BabyAiInstruction {
  InstructionKind kind = InstructionKind::kGoTo;
  GridDescription what = {};
  GridDescription beside = {};  // of kPutNext
  // What was carried when this instruction was last checked.
  int carried_before = BabyAiWorld::kNone;

  // Whether the action that led to `world` fulfils this instruction.
  bool Check(const BabyAiWorld& world, BabyAiAction action);
  std::string Text() const;

  bool operator==(const BabyAiInstruction&) const = default;
};

class BabyAiMission {
 public:
  BabyAiMission() = default;
  explicit BabyAiMission(BabyAiInstruction only) : parts_{std::move(only), {}} {}
  // "A, then B", or "B after you A" if `after`.
  BabyAiMission(BabyAiInstruction first, BabyAiInstruction second, bool after)
      : parts_{std::move(first), std::move(second)}, count_(2), after_(after) {}

  std::string Text() const;

  // The steps allowed: 64 for each thing to do and for each room.
  int Horizon(int rooms) const;

  // The parts in the order in which they are to be done, and how many are done.
  std::span<const BabyAiInstruction> parts() const { return std::span(parts_).first(count_); }
  size_t done() const { return done_; }

  // True if the action that led to `world` completes the mission. Call it after every action.
  bool Check(const BabyAiWorld& world, BabyAiAction action);

  bool operator==(const BabyAiMission&) const = default;

 private:
  std::array<BabyAiInstruction, 2> parts_;
  size_t count_ = 1;
  size_t done_ = 0;
  bool after_ = false;
};

// "red", "ball".
std::string_view GridColorName(GridColor color);
std::string_view GridTypeName(GridType type);

}  // namespace agentr
