#include "tasks/sciworld/sciworld_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/error.h"

namespace agentr {
namespace {

std::vector<SciWorldTaskType> Numbered(std::vector<SciWorldTaskType> types) {
  int next = 0;
  for (SciWorldTaskType& type : types) {
    type.first = next;
    next += type.count;
  }
  return types;
}

std::string TypesThereAre() {
  std::string list;
  for (const SciWorldTaskType& type : SciWorldTaskTypes()) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type.id, type.name);
  }
  return list;
}

}  // namespace

const std::vector<SciWorldTaskType>& SciWorldTaskTypes() {
  static const std::vector<SciWorldTaskType> types = Numbered({
      {"1-1", "boil", 0, 30, 90},
      {"1-2", "melt", 0, 30, 68},
      {"1-3", "freeze", 0, 30, 85},
      {"1-4", "change-the-state-of-matter-of", 0, 30, 68},
      {"2-1", "use-thermometer", 0, 540, 22},
      {"2-2", "measure-melting-point-known-substance", 0, 436, 74},
      {"2-3", "measure-melting-point-unknown-substance", 0, 300, 94},
      {"3-1", "power-component", 0, 20, 13},
      {"3-2", "power-component-renewable-vs-nonrenewable-energy", 0, 20, 28},
      {"3-3", "test-conductivity", 0, 900, 37},
      {"3-4", "test-conductivity-of-unknown-substances", 0, 600, 21},
      {"4-1", "find-living-thing", 0, 300, 14},
      {"4-2", "find-non-living-thing", 0, 300, 7},
      {"4-3", "find-plant", 0, 300, 12},
      {"4-4", "find-animal", 0, 300, 14},
      {"6-1", "chemistry-mix", 0, 32, 25},
      {"6-2", "chemistry-mix-paint-secondary-color", 0, 36, 21},
      {"6-3", "chemistry-mix-paint-tertiary-color", 0, 36, 30},
      {"7-1", "lifespan-longest-lived", 0, 125, 6},
      {"7-2", "lifespan-shortest-lived", 0, 125, 6},
      {"7-3", "lifespan-longest-lived-then-shortest-lived", 0, 125, 7},
      {"8-1", "identify-life-stages-1", 0, 14, 41},
      {"8-2", "identify-life-stages-2", 0, 10, 16},
  });
  return types;
}

std::vector<int> SciWorldTasksOf(std::span<const std::string> types) {
  std::set<int> ids;
  for (const std::string& wanted : types) {
    const auto type = std::ranges::find(SciWorldTaskTypes(), wanted, &SciWorldTaskType::id);
    if (type == SciWorldTaskTypes().end()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("unknown --task_type \"{}\"; the known types are: {}", wanted,
                                   TypesThereAre()));
    }
    for (int i = 0; i < type->count; ++i) ids.insert(type->first + i);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace agentr
