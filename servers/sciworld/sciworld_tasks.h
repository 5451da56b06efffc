// The tasks of ScienceWorld that AgentGym serves: for each task type in the order below, all its
// variations. A published id ("sciworld_3491") is a position in this list.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace agentr {

struct SimulatorTaskType {
  std::string_view id;    // "1-1", as in publications
  std::string_view name;  // "boil", the simulator's name
  int variations = 0;     // in scienceworld 1.2.3
};

struct SimulatorTask {
  std::string_view type;  // the type's name
  int variation = 0;
};

// The types in order. 5-1, 5-2, 9-1, 9-2, 9-3, 10-1 and 10-2 are not served.
std::span<const SimulatorTaskType> SimulatorTaskTypes();

// 4,639
size_t SimulatorTaskCount();

// `index` must be below the count.
SimulatorTask SimulatorTaskAt(size_t index);

}  // namespace agentr
