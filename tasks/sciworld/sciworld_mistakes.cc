#include "tasks/sciworld/sciworld_mistakes.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

enum class SciWorldMistakeKind {
  kLook,
  kGo,
  kPickUp,
  kWait,
  kHandle,
  kMalformed,
  kSkip,
  kFocus,
  kInsist
};

// Things in every house, used while nothing has been seen.
constexpr std::array<std::string_view, 4> kCommonThings = {"table", "thermometer", "metal pot",
                                                           "door"};
constexpr std::array<std::string_view, 4> kCommonRooms = {"hallway", "kitchen", "outside",
                                                          "workshop"};

std::string AnyRoom(const SciWorldView& view, RandomStream& random) {
  const std::vector<std::string>& doors = view.Here().doors;
  if (doors.empty()) return std::string(random.Pick(kCommonRooms));
  return random.Pick(doors);
}

// In sight or in the hand.
std::string AnyThing(const SciWorldView& view, RandomStream& random) {
  std::vector<std::string> things = view.Here().things;
  things.insert(things.end(), view.held.begin(), view.held.end());
  if (things.empty()) return std::string(random.Pick(kCommonThings));
  return random.Pick(things);
}

std::string Go(const SciWorldView& view, RandomStream& random) {
  const std::string room = AnyRoom(view, random);
  return random.Chance(0.7) ? "go to " + room : "open door to " + room;
}

std::string Look(const SciWorldView& view, RandomStream& random) {
  switch (random.Below(6)) {
    case 0:
      return "inventory";
    case 1:
      return "task";
    case 2:
      return "look at " + AnyThing(view, random);
    case 3:
      return "look in " + AnyThing(view, random);
    default:
      return "look around";
  }
}

// An action on one or two things.
std::string Handle(const SciWorldView& view, RandomStream& random) {
  static constexpr std::array<std::string_view, 10> kForms = {
      "open {}",    "close {}",      "activate {}",     "deactivate {}", "use {} on {}",
      "examine {}", "move {} to {}", "pour {} into {}", "put down {}",   "mix {}"};
  const std::string_view form = random.Pick(kForms);
  const std::string first = AnyThing(view, random);
  const std::string second = AnyThing(view, random);
  return fmt::format(fmt::runtime(form), first, second);
}

// Text that the game does not understand.
std::string Malformed(const SciWorldView& view, std::string_view meant, RandomStream& random) {
  switch (random.Below(4)) {
    case 0:
      return "grab " + AnyThing(view, random);
    case 1:
      return "search for " + AnyThing(view, random);
    case 2:
      return fmt::format("try to {}", meant);
    default:
      return "think about " + AnyThing(view, random);
  }
}

SciWorldMistakeKind DrawMistakeKind(RandomStream& random) {
  static constexpr std::array kMistakes = {
      SciWorldMistakeKind::kLook,      SciWorldMistakeKind::kLook,   SciWorldMistakeKind::kGo,
      SciWorldMistakeKind::kGo,        SciWorldMistakeKind::kGo,     SciWorldMistakeKind::kPickUp,
      SciWorldMistakeKind::kWait,      SciWorldMistakeKind::kPickUp, SciWorldMistakeKind::kHandle,
      SciWorldMistakeKind::kHandle,    SciWorldMistakeKind::kWait,   SciWorldMistakeKind::kSkip,
      SciWorldMistakeKind::kSkip,      SciWorldMistakeKind::kFocus,  SciWorldMistakeKind::kInsist,
      SciWorldMistakeKind::kMalformed,
  };
  return random.Pick(kMistakes);
}

std::string Make(SciWorldMistakeKind mistake, const SciWorldView& view, std::string_view meant,
                 const std::string& skipped, RandomStream& random) {
  switch (mistake) {
    case SciWorldMistakeKind::kLook:
      return Look(view, random);
    case SciWorldMistakeKind::kGo:
      return Go(view, random);
    case SciWorldMistakeKind::kPickUp:
      return "pick up " + AnyThing(view, random);
    case SciWorldMistakeKind::kWait:
      return random.Chance(0.5) ? "wait" : "wait1";
    case SciWorldMistakeKind::kHandle:
      return Handle(view, random);
    case SciWorldMistakeKind::kSkip:
      return skipped.empty() ? Look(view, random) : skipped;
    case SciWorldMistakeKind::kFocus:
      return "focus on " + AnyThing(view, random);
    case SciWorldMistakeKind::kInsist:
      return view.wasted_turns > 0 ? view.failed_action : Look(view, random);
    case SciWorldMistakeKind::kMalformed:
      break;
  }
  return Malformed(view, meant, random);
}

}  // namespace

std::string SciWorldMistake(const SciWorldView& view, std::string_view meant,
                            const std::string& skipped, RandomStream& random) {
  std::string wrong = Make(DrawMistakeKind(random), view, meant, skipped, random);
  // The mistake may happen to be the meant action; then draw again.
  if (SciWorldKey(wrong) != SciWorldKey(meant)) return wrong;
  return Malformed(view, meant, random);
}

std::string RandomSciWorldAction(const SciWorldView& view, RandomStream& random) {
  if (view.ambiguous && random.Chance(0.7)) return random.Chance(0.7) ? "0" : "1";
  const uint64_t draw = random.Below(20);
  if (draw < 4) return Look(view, random);
  if (draw < 9) return Go(view, random);
  if (draw < 12) return "pick up " + AnyThing(view, random);
  if (draw < 13) return "focus on " + AnyThing(view, random);
  if (draw < 15) return random.Chance(0.5) ? "wait" : "wait1";
  return Handle(view, random);
}

}  // namespace agentr
