// The types of SciWorld tasks and the ids of their tasks on the environment server, which numbers
// all variations of all types in a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct SciWorldTaskType {
  std::string_view id;    // "1-1", as ScienceWorld numbers them
  std::string_view name;  // "boil"
  int first = 0;          // id of its first task
  int count = 0;          // its tasks are first … first + count - 1
  // Actions of the simulator's own solution, the longest of the three or four tasks of the type that
  // were looked at (GET /gold of our server, scienceworld 1.2.3; tasks a third or a quarter of the
  // type apart, from its first one on).
  int solution = 0;
};

// Those that AgentGym's server has, in its order: 23 types with 4,639 tasks. It leaves out 5-1,
// 5-2, 9-1 to 9-3, 10-1 and 10-2.
const std::vector<SciWorldTaskType>& SciWorldTaskTypes();

// The ids of all tasks of these types ("1-1"), ascending, each once. Throws FatalError(kUsage) with
// the types there are when one is unknown.
std::vector<int> SciWorldTasksOf(std::span<const std::string> types);

}  // namespace agentr
