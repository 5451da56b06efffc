#include "servers/sciworld/sciworld_tasks.h"

#include <array>
#include <cassert>

namespace agentr {
namespace {

constexpr auto kTypes = std::to_array<SimulatorTaskType>({
    {"1-1", "boil", 30},
    {"1-2", "melt", 30},
    {"1-3", "freeze", 30},
    {"1-4", "change-the-state-of-matter-of", 30},
    {"2-1", "use-thermometer", 540},
    {"2-2", "measure-melting-point-known-substance", 436},
    {"2-3", "measure-melting-point-unknown-substance", 300},
    {"3-1", "power-component", 20},
    {"3-2", "power-component-renewable-vs-nonrenewable-energy", 20},
    {"3-3", "test-conductivity", 900},
    {"3-4", "test-conductivity-of-unknown-substances", 600},
    {"4-1", "find-living-thing", 300},
    {"4-2", "find-non-living-thing", 300},
    {"4-3", "find-plant", 300},
    {"4-4", "find-animal", 300},
    {"6-1", "chemistry-mix", 32},
    {"6-2", "chemistry-mix-paint-secondary-color", 36},
    {"6-3", "chemistry-mix-paint-tertiary-color", 36},
    {"7-1", "lifespan-longest-lived", 125},
    {"7-2", "lifespan-shortest-lived", 125},
    {"7-3", "lifespan-longest-lived-then-shortest-lived", 125},
    {"8-1", "identify-life-stages-1", 14},
    {"8-2", "identify-life-stages-2", 10},
});

}  // namespace

std::span<const SimulatorTaskType> SimulatorTaskTypes() { return kTypes; }

size_t SimulatorTaskCount() {
  size_t count = 0;
  for (const SimulatorTaskType& type : kTypes) count += static_cast<size_t>(type.variations);
  return count;
}

SimulatorTask SimulatorTaskAt(size_t index) {
  assert(index < SimulatorTaskCount());
  auto type = kTypes.begin();
  while (index >= static_cast<size_t>(type->variations)) {
    index -= static_cast<size_t>(type->variations);
    ++type;
  }
  return {type->name, static_cast<int>(index)};
}

}  // namespace agentr
