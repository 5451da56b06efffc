#include "tasks/sciworld/sciworld_planner.h"

#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

constexpr std::string_view kGoTo = "go to ";

// A later beginning must fit this many more actions to prove that turns were removed.
constexpr size_t kProof = 3;

// Consecutive attempts to open a door before the plan continues without it.
constexpr size_t kMostTries = 3;

size_t TakenFrom(size_t begin, std::span<const std::string> steps,
                 std::span<const std::string> actions) {
  size_t next = begin;
  for (const std::string& action : actions) {
    if (next < steps.size() && action == SciWorldKey(steps[next])) ++next;
  }
  return next;
}

bool IsAnswer(const std::string& step) {
  return step.find_first_not_of("0123456789") == std::string::npos;
}

// The room after the first `taken` steps.
std::string RoomAfter(std::span<const std::string> steps, size_t taken, const std::string& start) {
  for (size_t i = taken; i > 0; --i) {
    const std::string key = SciWorldKey(steps[i - 1]);
    if (key.starts_with(kGoTo)) return key.substr(kGoTo.size());
  }
  return start;
}

// The action that leads back to `room`; "" if the agent is there or no way is known.
std::string WayBack(const SciWorldView& view, const std::string& room) {
  if (room.empty() || view.room.empty() || view.room == room) return "";
  const std::string go = std::string(kGoTo) + room;
  const std::string open = "open door to " + room;
  size_t tries = 0;
  for (auto last = view.actions.rbegin(); last != view.actions.rend(); ++last, ++tries) {
    if (*last != go && *last != open) break;
  }
  if (tries >= kMostTries) return "";
  return tries % 2 == 0 ? go : open;
}

// Skips numbers in the solution if the game asks no question in this conversation.
size_t NextStep(const SciWorldView& view, std::span<const std::string> steps) {
  size_t next = SciWorldStepsTaken(steps, view.actions);
  while (next < steps.size() && IsAnswer(steps[next]) && !view.ambiguous) ++next;
  return next;
}

}  // namespace

std::vector<std::string> SciWorldSteps(std::span<const std::string> gold) {
  std::vector<std::string> steps(gold.begin(), gold.end());
  std::erase_if(steps, OnlyTells);
  return steps;
}

size_t SciWorldStepsTaken(std::span<const std::string> steps,
                          std::span<const std::string> actions) {
  size_t best = 0;
  size_t most = TakenFrom(0, steps, actions) + kProof;
  for (size_t begin = 1; begin < steps.size(); ++begin) {
    const size_t fitting = TakenFrom(begin, steps, actions) - begin;
    if (fitting < most) continue;
    most = fitting + 1;
    best = begin;
  }
  return TakenFrom(best, steps, actions);
}

std::string PlanSciWorld(const SciWorldView& view, std::span<const std::string> steps) {
  const size_t next = NextStep(view, steps);
  const bool answers = next < steps.size() && IsAnswer(steps[next]);
  if (view.ambiguous && !answers) return "0";
  if (answers) return steps[next];
  const std::string back = WayBack(view, RoomAfter(steps, next, view.start));
  if (!back.empty()) return back;
  return next < steps.size() ? steps[next] : "look around";
}

std::string SkipSciWorldStep(const SciWorldView& view, std::span<const std::string> steps) {
  const size_t next = NextStep(view, steps) + 1;
  return next < steps.size() ? steps[next] : "";
}

}  // namespace agentr
